/**
 * Timers, held against the states that wait for them.
 *
 * 1. A command that waits with a limit of time has its timer, and a command that waits for a child that is over has one that
 *    tells so. A timer is deleted after what it says is in the log: whoever reads the state first and the timers afterwards misses
 *    one only if the execution moved, and looks again.
 * 2. A timer that outlived its command is idle: it does nothing at its hour. It is counted, and no difference.
 * 3. Every timer belongs to an execution on its database, and is told when it is due.
 */
import type { Waits } from '../../engine/audit-log.ts'
import { waitingForChild } from '../../engine/audit-log.ts'
import type { TimerKind } from '../../engine/session.ts'
import type { CommandState, State } from '../../engine/state.ts'
import type { Database } from '../../store/database.ts'
import type { ExecutionRow } from '../../store/executions.ts'
import { readExecutions } from '../../store/executions.ts'
import type { LooseTimer } from '../../store/timer-audit.ts'
import {
  countTimersOf,
  listCommandsWithoutTimer,
  listEndsToTell,
  listOverdueTimers,
  listTimersOfNobody,
} from '../../store/timer-audit.ts'
import type { Doctor, Examination, Finding } from './examination.ts'

const AT_ONCE = 500
const KINDS: ReadonlySet<string> = new Set<TimerKind>([
  'child_ended',
  'command_timeout',
  'cancel_children',
  'follow_parent',
])

export const examineTimers = async (
  core: Doctor,
  database: Database,
  state: State,
  waits: Waits,
): Promise<Partial<Examination>> => {
  const { executionId } = state
  const timed = waits.timed(state)
  const counts = await countTimersOf(database, executionId)
  const missing: string[] = []
  for (const some of chunks(timed))
    missing.push(...(await listCommandsWithoutTimer(database, executionId, some)))
  const timeouts = counts.find(({ kind }) => kind === 'command_timeout')?.count ?? 0
  return {
    timers: counts.reduce((sum, { count }) => sum + count, 0),
    idle_timers: Math.max(0, timeouts - (timed.length - missing.length)),
    differences: [
      ...missing.map((commandId) => finding(executionId, noTimer(commandId), null, 'command_timeout')),
      ...counts
        .filter(({ kind }) => !KINDS.has(kind))
        .map(({ kind }) =>
          finding(executionId, `a timer is of a kind that nobody can tell: ${kind}`, kind, null),
        ),
      ...(await untoldChildren(core, state)),
    ],
  }
}

const noTimer = (commandId: string): string =>
  `the command ${commandId} waits with a limit of time, and no timer tells when it is over`

const finding = (
  execution_id: string,
  message: string,
  stored: string | null,
  folded: string | null,
): Finding => ({ execution_id, kind: 'timer', message, stored, folded })

/** Commands that wait for children of whose end they will never hear. */
const untoldChildren = async (core: Doctor, state: State): Promise<readonly Finding[]> => {
  const found: Finding[] = []
  for (const commands of chunks(waitingForChild(state))) {
    const ids = commands.map(({ eventId }) => eventId)
    // The rows first: an end and its timer are written together.
    const rows = await readWhereTheyAre(core, ids)
    const over = ids.filter((id) => (rows.get(id)?.status ?? 'RUNNING') !== 'RUNNING')
    const told = await endsToTell(core, over)
    for (const command of commands) {
      const message = untold(command, rows.get(command.eventId), told)
      if (message !== null) found.push(finding(state.executionId, message, null, 'child_ended'))
    }
  }
  return found
}

const untold = (
  { commandId, eventId }: CommandState,
  row: ExecutionRow | undefined,
  told: ReadonlySet<string>,
): string | null => {
  const waits = `the command ${commandId} waits for the end of execution ${eventId}, which`
  if (!row) return `${waits} does not exist`
  if (row.status === 'RUNNING' || told.has(eventId)) return null
  return `${waits} is ${row.status}, and no timer tells so`
}

const readWhereTheyAre = async (
  { shards }: Doctor,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ExecutionRow>> => {
  const rows = await Promise.all(
    [...Map.groupBy(ids, (id) => shards.of(id))].map(([database, own]) => readExecutions(database, own)),
  )
  return new Map(rows.flat().map((row) => [row.execution_id, row]))
}

const endsToTell = async ({ shards }: Doctor, ids: readonly string[]): Promise<ReadonlySet<string>> => {
  const found = await Promise.all(
    [...Map.groupBy(ids, (id) => shards.of(id))].map(([database, own]) => listEndsToTell(database, own)),
  )
  return new Set(found.flat())
}

const chunks = <T>(items: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / AT_ONCE) }, (_, nth) =>
    items.slice(nth * AT_ONCE, (nth + 1) * AT_ONCE),
  )

const SHOWN = 100
/** Servers look every second. */
const OVERDUE_MINUTES = 10

/** Timers that no execution would lead to, and those that nobody tells. */
export const examineLooseTimers = async ({ shards }: Doctor): Promise<Partial<Examination>> => {
  const all = async (list: (database: Database) => Promise<readonly LooseTimer[]>) =>
    (await Promise.all(shards.all.map(list))).flat()
  const ofNobody = await all((database) => listTimersOfNobody(database, SHOWN))
  const known = new Set(ofNobody.map(({ timer_id }) => timer_id))
  const overdue = await all((database) => listOverdueTimers(database, OVERDUE_MINUTES, SHOWN))
  return {
    differences: [
      ...ofNobody.map(({ execution_id, kind }) =>
        finding(execution_id, `a timer (${kind}) is set for an execution that does not exist`, kind, null),
      ),
      ...overdue
        .filter(({ timer_id }) => !known.has(timer_id))
        .map(({ execution_id, kind, due_at }) =>
          finding(
            execution_id,
            `a timer (${kind}) is due since ${due_at}, and no server tells it`,
            kind,
            null,
          ),
        ),
    ],
  }
}
