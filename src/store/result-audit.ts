/** Stored results as the doctor asks for them: what is known of the data, never the data. */
import { EVENT } from '../contract/event.ts'
import type { Database } from './database.ts'

export interface ResultFacts {
  readonly result_id: string
  readonly name: string
  readonly bytes: number
  readonly sha256: string
  /** Of the data as it lies there. */
  readonly sealed_bytes: number
  readonly is_live: boolean
}

const COLUMNS = `result_id, name, bytes::double precision as bytes, sha256, octet_length(data) as sealed_bytes,
  (expires_at is null or expires_at > now()) as is_live`

export const readResultFacts = async (
  database: Database,
  executionId: string,
  resultIds: readonly string[],
): Promise<readonly ResultFacts[]> => {
  const { rows } = await database.query<ResultFacts>({
    name: 'read-result-facts',
    text: `select ${COLUMNS} from noetl.result where result_id = any ($2::bigint[]) and execution_id = $1`,
    values: [executionId, resultIds],
  })
  return rows
}

/** What an execution stored and keeps, in the order of ids, a page at a time. */
export const listResultFactsAfter = async (
  database: Database,
  executionId: string,
  after: string,
  limit: number,
): Promise<readonly Pick<ResultFacts, 'result_id' | 'bytes'>[]> => {
  const { rows } = await database.query<Pick<ResultFacts, 'result_id' | 'bytes'>>({
    name: 'list-result-facts-after',
    text: `select result_id, bytes::double precision as bytes from noetl.result
      where execution_id = $1 and result_id > $2 and (expires_at is null or expires_at > now()) order by result_id limit $3`,
    values: [executionId, after, limit],
  })
  return rows
}

/** Results of executions that are not on this database. */
export const countResultsOfNobody = async (
  database: Database,
): Promise<{ readonly count: number; readonly bytes: number }> => {
  const { rows } = await database.query<{ count: number; bytes: number }>(
    `select count(*)::int as count, coalesce(sum(r.bytes), 0)::double precision as bytes from noetl.result r
     where (r.expires_at is null or r.expires_at > now())
       and not exists (select 1 from noetl.execution e where e.execution_id = r.execution_id)`,
  )
  return rows[0] ?? { count: 0, bytes: 0 }
}

/** A context that was stored apart is nothing but its reference; others are not looked into. */
const SMALL_CONTEXT_BYTES = 2000

/** References to contexts of commands within a stretch of the log. */
export const listContextReferences = async (
  database: Database,
  executionId: string,
  { after, upTo }: { readonly after: number; readonly upTo: number },
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ ref: string }>({
    name: 'list-context-references',
    text: `select context ->> '_ref' as ref from noetl.event
      where execution_id = $1 and position > $2 and position <= $3 and event_type = '${EVENT.commandIssued}'
        and case when pg_column_size(context) < ${SMALL_CONTEXT_BYTES} then context ->> '_ref' end is not null`,
    values: [executionId, after, upTo],
  })
  return rows.map(({ ref }) => ref)
}
