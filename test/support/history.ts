/** What must be true of every history, whatever happened to the execution. */
import { canonicalEventType, EVENT, terminalStatusOf } from '../../src/contract/event.ts'
import type { EventRecord } from '../../src/contract/event.ts'
import { commandIdOf } from '../../src/engine/envelope.ts'
import { encodeState } from '../../src/engine/snapshot.ts'
import { createState } from '../../src/engine/state.ts'
import type { State } from '../../src/engine/state.ts'
import { evolve } from '../../src/engine/evolve.ts'
import { examinePage } from '../../src/server/history/doctor.ts'
import type { Database } from '../../src/store/database.ts'
import { readEvents } from '../../src/store/events.ts'
import { executionsWithoutCause, readExecution } from '../../src/store/executions.ts'
import type { ExecutionRow } from '../../src/store/executions.ts'
import { testSealer } from './server.ts'

export const readLog = (database: Database, executionId: string): Promise<readonly EventRecord[]> =>
  readEvents(database, executionId, { limit: 1_000_000, sealer: testSealer })

export const eventTypes = async (database: Database, executionId: string): Promise<readonly string[]> =>
  (await readLog(database, executionId)).map((event) => event.eventType)

const foldLog = (executionId: string, events: readonly EventRecord[]): State => {
  const state = createState(executionId)
  for (const event of events) evolve(state, event)
  return state
}

/** The state as text: equal texts are equal states. */
export const foldedText = async (database: Database, executionId: string): Promise<string> =>
  encodeState(foldLog(executionId, await readLog(database, executionId)))

/** Everything that is wrong with an execution's history; empty when it is sound. */
export const historyProblems = async (
  database: Database,
  executionId: string,
): Promise<readonly string[]> => {
  const events = await readLog(database, executionId)
  const row = await readExecution(database, executionId)
  if (!row) return [`execution ${executionId} has no row`]
  return [
    ...logProblems(events),
    ...rowProblems(row, foldLog(executionId, events)),
    ...(await commandProblems(database, executionId, events)),
  ]
}

const logProblems = (events: readonly EventRecord[]): readonly string[] => {
  const problems: string[] = []
  for (const [index, event] of events.entries()) {
    if (event.position !== index + 1) problems.push(`position ${event.position} at place ${index + 1}`)
  }
  // An execution that was opened again ends again.
  const opened = events.findLastIndex((event) => event.eventType === EVENT.reopened)
  const terminal = events.slice(opened + 1).filter((event) => terminalStatusOf(event.eventType) !== null)
  if (terminal.length > 1) problems.push(`${terminal.length} terminal events`)
  const ids = new Set(events.map((event) => event.eventId))
  if (ids.size !== events.length) problems.push(`${events.length - ids.size} repeated event ids`)
  problems.push(
    ...twice(events, [EVENT.commandCompleted, EVENT.commandFailed], 'ended'),
    ...twice(events, [EVENT.commandIssued], 'issued'),
  )
  return problems
}

/** Commands with more than one of these events before the end of the execution. */
const twice = (events: readonly EventRecord[], types: readonly string[], word: string): readonly string[] => {
  const end = events.findIndex((event) => terminalStatusOf(event.eventType) !== null)
  const counted = Map.groupBy(
    events
      .slice(0, end === -1 ? undefined : end)
      // A parked command has only left its worker; it ends later.
      .filter(
        (event) =>
          types.includes(canonicalEventType(event.eventType)) &&
          event.result?.context?.['pending_callback'] !== true,
      ),
    (event) => commandIdOf(event.meta, event.result?.context) ?? '',
  )
  return [...counted]
    .filter(([, found]) => found.length > 1)
    .map(([id, found]) => `command ${id} ${word} ${found.length} times`)
}

const rowProblems = (row: ExecutionRow, state: State): readonly string[] => {
  const shown = [
    row.status,
    row.version,
    row.total_steps,
    row.completed_steps,
    row.running_steps,
    row.failed_steps,
    row.current_step,
    row.error,
  ]
  const { counts } = state
  const folded = [
    state.status,
    state.position,
    counts.entered,
    counts.completed,
    state.running.size,
    counts.failed,
    state.currentStep,
    state.error,
  ]
  return JSON.stringify(shown) === JSON.stringify(folded)
    ? []
    : [`row ${JSON.stringify(shown)} is not the fold ${JSON.stringify(folded)}`]
}

const ENDED: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'CANCELLED'])

/** The queue must know exactly the commands that the log knows as open. */
const commandProblems = async (
  database: Database,
  executionId: string,
  events: readonly EventRecord[],
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ event_id: string; status: string }>(
    'select event_id, status from noetl.command where execution_id = $1',
    [executionId],
  )
  const open = rows.filter(({ status }) => !ENDED.has(status)).map((row) => row.event_id)
  const expected = [...foldLog(executionId, events).commands.values()].map((command) => command.eventId)
  return open.sort().join() === expected.sort().join()
    ? []
    : [`open rows ${open.join()} are not the open commands ${expected.join()}`]
}

/** Executions that nothing moves; there must never be one. */
export const stuckExecutions = async (databases: readonly Database[]): Promise<readonly string[]> =>
  (await Promise.all(databases.map((database) => executionsWithoutCause(database, 100)))).flat()

/** What is stored and is not what the logs say, over all executions; there must never be anything. */
export const storedDifferences = async (
  core: Parameters<typeof examinePage>[0],
): Promise<readonly string[]> => {
  const found: string[] = []
  for (let after: string | null = null; ;) {
    const page: Awaited<ReturnType<typeof examinePage>> = await examinePage(core, { after, limit: 500 })
    found.push(...page.differences.map((difference) => JSON.stringify(difference)))
    if (page.next === null) return found
    after = page.next
  }
}

/** Ends every lease now, as if its holder had been silent for long enough. */
export const expireLeases = async (databases: readonly Database[]): Promise<void> => {
  for (const database of databases) {
    await database.query(
      `update noetl.command set lease_until = now() - interval '1 second' where status = 'CLAIMED'`,
    )
  }
}
