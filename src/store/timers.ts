/**
 * Things to be told at an instant. They are set by the append; whoever takes one must deliver it and then delete it. Whoever is
 * doing already what one would ask for deletes it afterwards, and puts it off as long as the work lasts.
 */
import type { JsonObject } from '../contract/json.ts'
import { storableJson } from '../lib/exact-json.ts'
import type { TimerToSet } from './append.ts'
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

/** The timers of an execution that are of a kind; with an event, only those that were set with it. */
export interface TimersOf {
  readonly executionId: string
  readonly kind: string
  readonly eventId: string | null
}

const OF = `execution_id = $1 and kind = $2 and ($3::text is null or payload ->> 'event_id' = $3)`

const valuesOf = ({ executionId, kind, eventId }: TimersOf): readonly (string | null)[] => [
  executionId,
  kind,
  eventId,
]

export const deleteTimersOf = async (database: Database, timers: TimersOf): Promise<void> => {
  await database.query({
    name: 'delete-timers-of',
    text: `delete from noetl.timer where ${OF}`,
    values: [...valuesOf(timers)],
  })
}

export const putOffTimersOf = async (
  database: Database,
  timers: TimersOf,
  milliseconds: number,
): Promise<void> => {
  await database.query({
    name: 'put-off-timers-of',
    text: `update noetl.timer set due_at = now() + $4 * interval '1 millisecond' where ${OF}`,
    values: [...valuesOf(timers), milliseconds],
  })
}

/** For what is asked again of an execution that is over: nothing is appended to it that could bring a timer. */
export const insertTimer = async (
  database: Database,
  { timerId, executionId, kind, payload, delayMs }: TimerToSet,
): Promise<void> => {
  await database.query({
    name: 'insert-timer',
    text: `insert into noetl.timer (timer_id, execution_id, due_at, kind, payload)
      values ($1, $2, now() + $3 * interval '1 millisecond', $4, $5)`,
    values: [timerId, executionId, delayMs, kind, storableJson(payload)],
  })
}
