/** Which executions changed lately: what streams of all executions read. */
import type { Database } from './database.ts'
import type { ExecutionRow } from './executions.ts'

export const readExecutions = async (
  database: Database,
  executionIds: readonly string[],
): Promise<readonly ExecutionRow[]> => {
  const { rows } = await database.query<ExecutionRow>(
    'select * from noetl.execution where execution_id = any ($1::bigint[]) order by updated_at, execution_id',
    [executionIds],
  )
  return rows
}

export interface ChangedSince {
  /** ISO-8601. */
  readonly since: string
  /** Below it only those that run can have changed: one that was over may have been opened again. */
  readonly from: string
  readonly limit: number
}

/**
 * Executions that changed since an instant, by their ids. There is no index for it, which every append would pay for:
 * the executions from the oldest one that ran at that instant on are looked at, and `listRunningBelow` tells the others.
 */
export const listChangedSince = async (
  database: Database,
  { since, from, limit }: ChangedSince,
): Promise<readonly ExecutionRow[]> => {
  const { rows } = await database.query<ExecutionRow>(
    'select * from noetl.execution where execution_id >= $1 and updated_at >= $2 order by execution_id limit $3',
    [from, since, limit],
  )
  return rows
}

/** Those below that run and changed since. As many rows are looked at as run. */
export const listRunningBelow = async (
  database: Database,
  { since, from, limit }: ChangedSince,
): Promise<readonly ExecutionRow[]> => {
  const { rows } = await database.query<ExecutionRow>(
    `select * from noetl.execution where status = 'RUNNING' and execution_id < $1 and updated_at >= $2
     order by execution_id limit $3`,
    [from, since, limit],
  )
  return rows
}

export interface Moment {
  /** Milliseconds since 1970, by the clock of the database. */
  readonly at: number
  /** Null when nothing runs. */
  readonly oldestRunning: string | null
}

export const readMoment = async (database: Database): Promise<Moment> => {
  const { rows } = await database.query<{ at: number; oldest: string | null }>({
    name: 'read-moment',
    text: `select (extract(epoch from now()) * 1000)::float8 as at,
      (select execution_id from noetl.execution where status = 'RUNNING' and not imported order by execution_id limit 1) as oldest`,
  })
  const [row] = rows
  return { at: Math.floor(row?.at ?? 0), oldestRunning: row?.oldest ?? null }
}
