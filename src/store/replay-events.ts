/**
 * Reading the log for a replay: few columns, JSON as text, in pages. As it is stored for everybody to read: nothing
 * sealed is opened here.
 *
 * 1. The order of positions is the order of the table and costs nothing; the order of ids has to be sorted by the
 *    database.
 * 2. Rows are read as far as the log was known at the beginning, so that pages read one after another fit together.
 */
import type { PoolClient } from 'pg'
import type { Database } from './database.ts'

export interface ReplayLogRow {
  readonly position: number
  readonly eventId: string
  /** As PostgreSQL writes it, in UTC, so that no digit is lost. Texts of this form are in the order of time. */
  readonly createdAt: string
  readonly eventType: string
  readonly nodeName: string | null
  readonly status: string | null
  readonly workerId: string | null
  readonly meta: string
  readonly contextCommandId: string | null
  readonly reference: string | null
  readonly extra: string | null
  /** `result.context.result.reference`. */
  readonly innerReference: string | null
}

export interface ReplayRange {
  readonly executionId: string
  /** Positions above this one; those up to it are folded. */
  readonly after: number
  readonly upTo: number
  /** Ids up to this one are folded. */
  readonly afterEventId: string | null
  readonly upToEventId: string | null
  /** An instant as PostgreSQL reads it, inclusive. */
  readonly upToTime: string | null
}

const COLUMNS = `position, event_id, created_at::text, event_type, node_name, status, worker_id, meta::text,
  result_context ->> 'command_id', result_reference::text, extra::text, result_context #>> '{result,reference}'`

const WHERE = `execution_id = $1 and position > $2 and position <= $3
  and ($4::bigint is null or event_id > $4) and ($5::bigint is null or event_id <= $5)
  and ($6::timestamptz is null or created_at <= $6)`

type RowValues = [number, string, string, string, ...(string | null)[]]

const toRow = (values: RowValues): ReplayLogRow => ({
  position: values[0],
  eventId: values[1],
  createdAt: values[2],
  eventType: values[3],
  nodeName: values[4] ?? null,
  status: values[5] ?? null,
  workerId: values[6] ?? null,
  meta: values[7] ?? '{}',
  contextCommandId: values[8] ?? null,
  reference: values[9] ?? null,
  extra: values[10] ?? null,
  innerReference: values[11] ?? null,
})

const valuesOf = (range: ReplayRange): unknown[] => [
  range.executionId,
  range.after,
  range.upTo,
  range.afterEventId,
  range.upToEventId,
  range.upToTime,
]

/** The next rows in the order of positions. */
export const readReplayPage = async (
  database: Database,
  range: ReplayRange,
  limit: number,
): Promise<readonly ReplayLogRow[]> => {
  const { rows } = await database.query<RowValues>({
    name: 'read-replay-page',
    text: `select ${COLUMNS} from noetl.event where ${WHERE} order by position limit $7`,
    values: [...valuesOf(range), limit],
    rowMode: 'array',
  })
  return rows.map(toRow)
}

/**
 * All rows of the range in the order of ids, in pages. The connection is given back when the reader is done or
 * stops.
 */
export async function* readReplaySorted(
  database: Database,
  range: ReplayRange,
  pageSize: number,
): AsyncGenerator<readonly ReplayLogRow[]> {
  const client = await database.connect()
  let finished = false
  try {
    await client.query('begin read only')
    await client.query(
      `declare replay no scroll cursor for select ${COLUMNS} from noetl.event where ${WHERE} order by event_id, position`,
      valuesOf(range),
    )
    for (;;) {
      const rows = await fetchPage(client, pageSize)
      if (rows.length > 0) yield rows
      if (rows.length < pageSize) break
    }
    finished = true
  } finally {
    await client.query(finished ? 'commit' : 'rollback').then(
      () => client.release(),
      (error: Error) => client.release(error),
    )
  }
}

const fetchPage = async (client: PoolClient, pageSize: number): Promise<readonly ReplayLogRow[]> => {
  const { rows } = await client.query<RowValues>({ text: `fetch ${pageSize} from replay`, rowMode: 'array' })
  return rows.map(toRow)
}

export interface ReplayLogHead {
  /** Null when nobody keeps a row for it. */
  readonly status: string | null
  /** 0 without events. */
  readonly lastPosition: number
}

/** Where an execution stands, and how far its log goes, of one instant. */
export const readReplayHead = async (database: Database, executionId: string): Promise<ReplayLogHead> => {
  const { rows } = await database.query<ReplayLogHead>({
    name: 'read-replay-head',
    text: `select (select status from noetl.execution where execution_id = $1) as status,
      coalesce((select max(position) from noetl.event where execution_id = $1), 0) as "lastPosition"`,
    values: [executionId],
  })
  return rows[0] ?? { status: null, lastPosition: 0 }
}

/** Whether the log has events of this tenant at all. */
export const hasEventsOf = async (
  database: Database,
  executionId: string,
  tenantId: string,
  organizationId: string,
): Promise<boolean> => {
  const { rows } = await database.query(
    `select 1 from noetl.event where execution_id = $1 and coalesce(extra ->> 'tenant_id', 'default') = $2
       and coalesce(extra ->> 'organization_id', 'default') = $3 limit 1`,
    [executionId, tenantId, organizationId],
  )
  return rows.length > 0
}

/**
 * Whether an event after a position, up to another one, has an id up to this one: what is known of ids up to it is
 * then incomplete.
 */
export const hasEarlierIdAfter = async (
  database: Database,
  executionId: string,
  { position, upTo, eventId }: { position: number; upTo: number; eventId: string },
): Promise<boolean> => {
  const { rows } = await database.query({
    name: 'has-earlier-id-after',
    text: 'select 1 from noetl.event where execution_id = $1 and position > $2 and position <= $3 and event_id <= $4 limit 1',
    values: [executionId, position, upTo, eventId],
  })
  return rows.length > 0
}
