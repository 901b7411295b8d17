/**
 * The state of an execution at a place in its log, as people and programs see it.
 *
 * 1. Nothing sensitive is in it unless the caller may see it and asked for it.
 * 2. It stays small: large data is summarised; one step at a time can be had whole.
 * 3. Leases and timers are facts of now: they are told only for the end of the log.
 */
import type { Json } from '../../contract/json.ts'
import { redact } from '../../contract/sensitive.ts'
import { summarise } from '../../contract/summary.ts'
import type { Wait } from '../../engine/as-of.ts'
import { stepWord, waitOf } from '../../engine/as-of.ts'
import type { Graph } from '../../engine/graph.ts'
import type { CommandState, CursorState, LoopState, State } from '../../engine/state.ts'
import { isTerminal } from '../../engine/state.ts'
import { isLargerThan } from '../../lib/json-size.ts'
import type { Database } from '../../store/database.ts'
import type { OpenCommand } from '../../store/open-work.ts'
import { listTimers, readCommandRows } from '../../store/open-work.ts'
import { poolOf } from '../build-append.ts'

/** Larger values are summarised. */
const SHOWN_BYTES = 4096
/** Commands listed at most; a wide loop has as many as its window. */
const SHOWN_COMMANDS = 200

export interface ShownState {
  readonly graph: Graph
  readonly state: State
  /** Of the event at the position. */
  readonly eventId: string
  readonly at: string
  readonly lastPosition: number
  /** Only this step, with its whole data. */
  readonly step: string | null
  readonly secrets: boolean
  readonly facts: WaitFacts
}

/** What the queue and the clock know of open commands. */
export interface WaitFacts {
  readonly rows: ReadonlyMap<string, OpenCommand>
  /** When the wait of a parked command ends, by command id. */
  readonly due: ReadonlyMap<string, string>
}

export const NO_FACTS: WaitFacts = { rows: new Map(), due: new Map() }

export const readWaitFacts = async (database: Database, state: State): Promise<WaitFacts> => {
  const commands = shownCommands(state)
  if (commands.length === 0) return NO_FACTS
  const [rows, timers] = await Promise.all([
    readCommandRows(
      database,
      commands.map(({ eventId }) => eventId),
    ),
    listTimers(database, state.executionId),
  ])
  const due = timers.flatMap(({ payload, due_at }): [string, string][] =>
    typeof payload['command_id'] === 'string' ? [[payload['command_id'], due_at]] : [],
  )
  return { rows: new Map(rows.map((row) => [row.command_id, row])), due: new Map(due) }
}

const shownCommands = (state: State): readonly CommandState[] =>
  [...state.commands.values()].slice(0, SHOWN_COMMANDS)

export const stateAnswer = (shown: ShownState) => {
  const { state, graph, secrets, facts } = shown
  const show = (value: Json): Json => cut(secrets ? value : redact(value))
  return {
    execution_id: state.executionId,
    position: state.position,
    event_id: shown.eventId,
    at: shown.at,
    last_position: shown.lastPosition,
    status: state.status ?? 'RUNNING',
    path: state.path,
    catalog_id: state.catalogId,
    version: state.playbookVersion,
    origin: state.origin && {
      execution_id: state.origin.executionId,
      event_id: state.origin.eventId,
      position: state.origin.position,
    },
    parent_execution_id: state.parentExecutionId,
    started_at: state.startedAt,
    finished_at: state.finishedAt,
    error: redact(state.error) as string | null,
    current_step: state.currentStep,
    progress: {
      total_steps: state.counts.entered,
      completed_steps: state.counts.completed,
      running_steps: state.running.size,
      failed_steps: state.counts.failed,
    },
    workload: show(state.workload),
    variables: show(state.vars),
    steps: graph.playbook.steps
      .filter(({ name }) => shown.step === null || name === shown.step)
      .map(({ name }) => stepAnswer(shown, name, show)),
    tokens: state.tokens.map(({ from, to }) => ({ from: from === '' ? null : from, to })),
    failures: state.failures.map(({ step, error }) => ({ step, error: redact(error) as string })),
    commands: shownCommands(state).map((command) => commandAnswer(state, command, facts)),
    commands_total: state.commands.size,
  }
}

/** Members are cut one by one, so that a large variable hides only itself. */
const cut = (value: Json): Json => {
  if (!isLargerThan(value, SHOWN_BYTES)) return value
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return summarise(value)
  return Object.fromEntries(
    Object.entries(value).map(([key, item]): [string, Json] => [
      key,
      isLargerThan(item, SHOWN_BYTES) ? summarise(item) : item,
    ]),
  )
}

const stepAnswer = (
  { state, step: only, secrets }: ShownState,
  name: string,
  show: (value: Json) => Json,
) => {
  const step = state.steps.get(name)
  const data = step?.data
  // The end stopped what was running.
  const stopped = isTerminal(state) ? { running: 0 } : {}
  return {
    step: name,
    state: stepWord(state, name),
    run: step?.run ?? 0,
    handled: step?.handled ?? false,
    blocked: step?.blocked ?? false,
    error: step?.error ? redact({ ...step.error }) : null,
    has_data: data !== undefined,
    ...(data === undefined ? {} : { data: only === null ? show(data) : secrets ? data : redact(data) }),
    loop: step?.loop ? { ...loopAnswer(step.loop), ...stopped } : null,
    cursor: step?.cursor ? { ...cursorAnswer(step.cursor), ...stopped } : null,
  }
}

const loopAnswer = ({ total, next, again, outstanding, done, failed, window }: LoopState) => ({
  total,
  issued: next - again.length,
  running: outstanding,
  done,
  failed,
  window,
})

const cursorAnswer = ({ frame, outstanding, processed, failed, claiming, rows }: CursorState) => ({
  frame,
  rows: rows?.length ?? 0,
  running: outstanding,
  done: processed,
  failed,
  claiming,
})

const commandAnswer = (state: State, command: CommandState, facts: WaitFacts) => ({
  command_id: command.commandId,
  event_id: command.eventId,
  step: command.step,
  run: command.run,
  index: command.index,
  tool_kind: command.toolKind,
  attempt: command.attempt,
  max_attempts: command.maxAttempts,
  waits: waitAnswer(state, command, waitOf(command), facts),
})

/** What a command waits for, with what is known of it now. */
export const waitAnswer = (
  state: State,
  { commandId, toolKind }: Pick<CommandState, 'commandId' | 'toolKind'>,
  wait: Wait,
  { rows, due }: WaitFacts,
) => {
  const row = rows.get(commandId)
  const pool = row?.pool ?? poolOf(state, toolKind)
  if (wait.for === 'worker') return { for: wait.for, pool }
  if (wait.for === 'report')
    return { for: wait.for, pool, worker: wait.worker, until: row?.lease_until ?? null }
  const until = due.get(commandId) ?? null
  return wait.for === 'child'
    ? { for: wait.for, child_execution_id: wait.childId, until }
    : { for: wait.for, until }
}
