/**
 * Results that are too large for an event, sealed. A result that expired is not found, whether or not it was
 * deleted already; expiry is judged by the database's clock.
 *
 * Large data is read in parts: the driver takes bytes as text, and turning all of it back at once would hold up everybody. It does not
 * compress, sealed as it is, so that the database finds a part without reading what comes before.
 */
import type { ResultScope } from '../contract/api-results.ts'
import type { Database } from './database.ts'

export interface ResultRow {
  readonly result_id: string
  readonly execution_id: string
  readonly name: string
  readonly scope: ResultScope
  readonly source_step: string | null
  readonly media_type: string
  readonly bytes: number
  readonly sha256: string
  readonly logical_uri: string | null
  readonly created_at: string
  readonly expires_at: string | null
}

export interface StoredResult extends ResultRow {
  readonly data: Buffer
}

/** A result as it was found; large data is still to be read. */
interface FoundResult extends ResultRow {
  readonly sealed_bytes: number
  readonly data: Buffer | null
}

const COLUMNS =
  'result_id, execution_id, name, scope, source_step, media_type, bytes::double precision as bytes, sha256, logical_uri, created_at, expires_at'
const PART_BYTES = 1024 * 1024
const DATA = `octet_length(data) as sealed_bytes, case when octet_length(data) <= ${PART_BYTES} then data end as data`
const LIVE = '(expires_at is null or expires_at > now())'

export interface NewResult {
  readonly resultId: string
  readonly executionId: string
  readonly name: string
  readonly scope: ResultScope
  readonly sourceStep: string | null
  readonly mediaType: string
  readonly logicalUri: string | null
  /** Of the data before sealing. */
  readonly bytes: number
  readonly sha256: string
  readonly sealed: Buffer
  /** Null for ever. */
  readonly ttlSeconds: number | null
}

export const insertResult = async (database: Database, result: NewResult): Promise<ResultRow> => {
  const { rows } = await database.query<ResultRow>(
    `insert into noetl.result (result_id, execution_id, name, scope, source_step, media_type, logical_uri, bytes, sha256, data, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now() + $11::double precision * interval '1 second')
     returning ${COLUMNS}`,
    [
      result.resultId,
      result.executionId,
      result.name,
      result.scope,
      result.sourceStep,
      result.mediaType,
      result.logicalUri,
      result.bytes,
      result.sha256,
      result.sealed,
      result.ttlSeconds,
    ],
  )
  const [row] = rows
  if (!row) throw new Error('an insert returned no row')
  return row
}

/** Null when it was deleted meanwhile. */
const complete = async (database: Database, found: FoundResult | undefined): Promise<StoredResult | null> => {
  if (!found) return null
  const { sealed_bytes: size, data: small, ...row } = found
  if (small) return { ...row, data: small }
  const data = Buffer.allocUnsafeSlow(size)
  for (let at = 0; at < size; at += PART_BYTES) {
    const { rows } = await database.query<{ part: Buffer }>(
      'select substring(data from $2 for $3) as part from noetl.result where result_id = $1',
      [row.result_id, at + 1, PART_BYTES],
    )
    if (!rows[0]) return null
    rows[0].part.copy(data, at)
  }
  return { ...row, data }
}

export const readResult = async (
  database: Database,
  { executionId, name, resultId }: { executionId: string; name: string; resultId: string },
): Promise<StoredResult | null> => {
  const { rows } = await database.query<FoundResult>(
    `select ${COLUMNS}, ${DATA} from noetl.result where result_id = $3 and execution_id = $1 and name = $2 and ${LIVE}`,
    [executionId, name, resultId],
  )
  return complete(database, rows[0])
}

/** The newest result with this stable name. */
export const findResultByUri = async (
  database: Database,
  executionId: string,
  uri: string,
): Promise<StoredResult | null> => {
  const { rows } = await database.query<FoundResult>(
    `select ${COLUMNS}, ${DATA} from noetl.result where execution_id = $1 and logical_uri = $2 and ${LIVE} order by result_id desc limit 1`,
    [executionId, uri],
  )
  return complete(database, rows[0])
}

/** The newest result that carries the step's name or came from the step, and whether there are others. */
export const findResultOfStep = async (
  database: Database,
  executionId: string,
  step: string,
): Promise<{ newest: StoredResult; alone: boolean } | null> => {
  const { rows } = await database.query<{ result_id: string }>(
    `select result_id from noetl.result where execution_id = $1 and (name = $2 or source_step = $2) and ${LIVE} order by result_id desc limit 2`,
    [executionId, step],
  )
  const [newest] = rows
  if (!newest) return null
  const { rows: found } = await database.query<FoundResult>(
    `select ${COLUMNS}, ${DATA} from noetl.result where result_id = $1`,
    [newest.result_id],
  )
  const whole = await complete(database, found[0])
  return whole ? { newest: whole, alone: rows.length === 1 } : null
}

export const listResults = async (
  database: Database,
  executionId: string,
  { scope, step, limit }: { scope: ResultScope | null; step: string | null; limit: number },
): Promise<readonly ResultRow[]> => {
  const { rows } = await database.query<ResultRow>(
    `select ${COLUMNS} from noetl.result
     where execution_id = $1 and ($2::text is null or scope = $2) and ($3::text is null or name = $3 or source_step = $3) and ${LIVE}
     order by result_id limit $4`,
    [executionId, scope, step, limit],
  )
  return rows
}

/** Deletes the results of an execution in these scopes; of one step only when it is given. */
export const deleteResults = async (
  database: Database,
  executionId: string,
  { scopes, step }: { scopes: readonly ResultScope[]; step: string | null },
): Promise<number> => {
  const { rowCount } = await database.query(
    `delete from noetl.result
     where execution_id = $1 and scope = any ($2) and ($3::text is null or name = $3 or source_step = $3)`,
    [executionId, scopes, step],
  )
  return rowCount ?? 0
}

export const deleteExpiredResults = async (database: Database, max: number): Promise<number> => {
  const { rowCount } = await database.query(
    `delete from noetl.result where result_id = any (array(
       select result_id from noetl.result where expires_at <= now() order by expires_at limit $1))`,
    [max],
  )
  return rowCount ?? 0
}

/** From the statistics that PostgreSQL keeps, without reading the table. */
export const estimateResults = async (
  database: Database,
): Promise<{ count: number; bytesOnDisk: number }> => {
  const { rows } = await database.query<{ count: number; bytesOnDisk: number }>(
    `select greatest(reltuples, 0)::double precision as count, pg_total_relation_size(oid)::double precision as "bytesOnDisk"
     from pg_class where oid = 'noetl.result'::regclass`,
  )
  return rows[0] ?? { count: 0, bytesOnDisk: 0 }
}
