/** Things to be told at an instant. They are set by the append; whoever takes one must deliver it and then delete it. */
import type { JsonObject } from '../contract/json.ts'
import type { Database } from './database.ts'

export interface TimerRow {
  readonly timer_id: string
  readonly execution_id: string
  readonly kind: string
  readonly payload: JsonObject
}

/** Takes timers that are due; one that is not deleted within `holdSeconds` is due again. */
export const takeDueTimers = async (
  database: Database,
  { max, holdSeconds }: { max: number; holdSeconds: number },
): Promise<readonly TimerRow[]> => {
  const { rows } = await database.query<TimerRow>({
    name: 'take-due-timers',
    text: `
      update noetl.timer t set due_at = now() + $2 * interval '1 second'
      where t.timer_id = any (array(
        select timer_id from noetl.timer where due_at <= now() order by due_at limit $1 for update skip locked))
      returning t.timer_id, t.execution_id, t.kind, t.payload`,
    values: [max, holdSeconds],
  })
  return rows
}

export const deleteTimers = async (database: Database, timerIds: readonly string[]): Promise<void> => {
  await database.query({
    name: 'delete-timers',
    text: 'delete from noetl.timer where timer_id = any ($1::bigint[])',
    values: [timerIds],
  })
}
