/** Keys that make starting an execution repeatable. */
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
      insert into noetl.execution_dedup as d (scope, key, execution_id) values ($1, $2, $3)
      on conflict (scope, key) do update
      set execution_id = case when d.seen_at < now() - $4 * interval '1 second' then excluded.execution_id else d.execution_id end,
        seen_at = case when d.seen_at < now() - $4 * interval '1 second' then now() else d.seen_at end
      returning execution_id`,
    values: [scope, key, executionId, windowSeconds],
  })
  return rows[0]?.execution_id ?? executionId
}
