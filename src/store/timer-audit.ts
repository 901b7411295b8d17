/** Timers as the doctor asks for them: never more rows than asked for, however many there are. */
import type { Database } from './database.ts'

export interface TimerCount {
  readonly kind: string
  readonly count: number
}

/** How many timers an execution has. */
export const countTimersOf = async (
  database: Database,
  executionId: string,
): Promise<readonly TimerCount[]> => {
  const { rows } = await database.query<TimerCount>({
    name: 'count-timers-of',
    text: 'select kind, count(*)::int as count from noetl.timer where execution_id = $1 group by kind order by kind',
    values: [executionId],
  })
  return rows
}

/** Those of these commands that no timer will tell the end of their time. */
export const listCommandsWithoutTimer = async (
  database: Database,
  executionId: string,
  commandIds: readonly string[],
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ command_id: string }>({
    name: 'list-commands-without-timer',
    text: `select c.command_id from unnest($2::text[]) c(command_id)
      where c.command_id not in (
        select t.payload ->> 'command_id' from noetl.timer t
        where t.execution_id = $1 and t.kind = 'command_timeout' and t.payload ->> 'command_id' is not null)`,
    values: [executionId, commandIds],
  })
  return rows.map((row) => row.command_id)
}

/** Those of these executions whose end is still to be told to their parents. */
export const listEndsToTell = async (
  database: Database,
  executionIds: readonly string[],
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ execution_id: string }>({
    name: 'list-ends-to-tell',
    text: `select distinct execution_id from noetl.timer where execution_id = any ($1::bigint[]) and kind = 'child_ended'`,
    values: [executionIds],
  })
  return rows.map((row) => row.execution_id)
}

export interface LooseTimer {
  readonly timer_id: string
  readonly execution_id: string
  readonly kind: string
  readonly due_at: string
}

const COLUMNS = 't.timer_id, t.execution_id, t.kind, t.due_at'

/** Timers of executions that are not on this database. */
export const listTimersOfNobody = async (
  database: Database,
  limit: number,
): Promise<readonly LooseTimer[]> => {
  const { rows } = await database.query<LooseTimer>(
    `select ${COLUMNS} from noetl.timer t
     where not exists (select 1 from noetl.execution e where e.execution_id = t.execution_id) order by t.timer_id limit $1`,
    [limit],
  )
  return rows
}

/** Timers that should have been told for longer than this, oldest first. Whoever takes one puts it off. */
export const listOverdueTimers = async (
  database: Database,
  minutes: number,
  limit: number,
): Promise<readonly LooseTimer[]> => {
  const { rows } = await database.query<LooseTimer>(
    `select ${COLUMNS} from noetl.timer t where t.due_at < now() - $1 * interval '1 minute' order by t.due_at limit $2`,
    [minutes, limit],
  )
  return rows
}
