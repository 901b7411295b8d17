/** What an execution waits for, as far as the queue and the clock know. */
import type { CommandRow } from './commands.ts'
import type { Database } from './database.ts'
import type { TimerRow } from './timers.ts'

export type OpenCommand = Pick<
  CommandRow,
  'event_id' | 'command_id' | 'step' | 'pool' | 'status' | 'worker_id' | 'lease_until'
>

const COLUMNS = 'event_id, command_id, step, pool, status, worker_id, lease_until'

/** The states of commands that have not ended, each in the words of the small index that holds these and no others. */
export const OPEN_STATES = [
  "status = 'PENDING' and requires is null",
  "status = 'PENDING' and requires is not null",
  "status = 'CLAIMED'",
  "status = 'PARKED'",
] as const

/** Commands of an execution that have not ended. Each state has its own small index; what ended is not touched. */
export const listOpenCommands = async (
  database: Database,
  executionId: string,
): Promise<readonly OpenCommand[]> => {
  const of = (state: string): string =>
    `select ${COLUMNS} from noetl.command where execution_id = $1 and ${state}`
  const { rows } = await database.query<OpenCommand>({
    name: 'list-open-commands',
    text: OPEN_STATES.map(of).join(' union all '),
    values: [executionId],
  })
  return rows
}

/** Rows of commands by their ids. */
export const readCommandRows = async (
  database: Database,
  eventIds: readonly string[],
): Promise<readonly OpenCommand[]> => {
  const { rows } = await database.query<OpenCommand>({
    name: 'read-command-rows',
    text: `select ${COLUMNS} from noetl.command
      where event_id = any ($1::bigint[])`,
    values: [eventIds],
  })
  return rows
}

export const listTimers = async (
  database: Database,
  executionId: string,
): Promise<readonly (TimerRow & { readonly due_at: string })[]> => {
  const { rows } = await database.query<TimerRow & { due_at: string }>({
    name: 'list-timers',
    text: 'select timer_id, execution_id, kind, payload, due_at from noetl.timer where execution_id = $1',
    values: [executionId],
  })
  return rows
}
