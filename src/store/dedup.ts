/**
 * Keys that make starting an execution repeatable.
 *
 * 1. Within the window that a request gives, counted from the start of the execution, its key stands for that execution.
 * 2. A key is kept until the longest window is over that was given for it, and is forgotten some time after.
 */
import type { Database } from './database.ts'

export interface DedupKey {
  /** Keys of different scopes do not meet; 0 without a parent execution. */
  readonly scope: string
  readonly key: string
  readonly windowSeconds: number
}

/** The execution the key stands for: the given one, or an earlier one whose window is still open. */
export const claimDedupKey = async (
  database: Database,
  { scope, key, windowSeconds }: DedupKey,
  executionId: string,
): Promise<string> => {
  const { rows } = await database.query<{ execution_id: string }>({
    name: 'claim-dedup-key',
    text: `
      insert into noetl.execution_dedup as d (scope, key, execution_id, expires_at)
      values ($1, $2, $3, now() + $4 * interval '1 second')
      on conflict (scope, key) do update
      set execution_id = case when d.seen_at < now() - $4 * interval '1 second' then excluded.execution_id else d.execution_id end,
        seen_at = case when d.seen_at < now() - $4 * interval '1 second' then now() else d.seen_at end,
        expires_at = case when d.seen_at < now() - $4 * interval '1 second' then excluded.expires_at
          else greatest(d.expires_at, d.seen_at + $4 * interval '1 second') end
      returning execution_id`,
    values: [scope, key, executionId, windowSeconds],
  })
  return rows[0]?.execution_id ?? executionId
}

/** Deletes keys whose windows are over, the oldest first; answers how many. */
export const deleteExpiredDedupKeys = async (database: Database, max: number): Promise<number> => {
  const { rowCount } = await database.query(
    `delete from noetl.execution_dedup where ctid = any (array(
       select ctid from noetl.execution_dedup where expires_at < now() order by expires_at limit $1
       for update skip locked))`,
    [max],
  )
  return rowCount ?? 0
}
