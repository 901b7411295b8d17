/**
 * evolve(state, event): the fold. The only code that changes a State.
 *
 * 1. Positions grow by one; an event at or below the state's position changes nothing.
 * 2. Unknown event types only advance the position.
 * 3. The first terminal event wins; whatever follows it changes nothing but the position.
 * 4. A report about a command without an entry in `commands` changes nothing: it ended before.
 * 5. Only the control plane enters, skips and routes steps, writes variables, issues and releases commands. Events
 *    of those types from anybody else are history.
 */
import type { EventRecord } from '../contract/event.ts'
import { canonicalEventType, EVENT, terminalStatusOf } from '../contract/event.ts'
import type { Json } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type { Outcome } from './envelope.ts'
import { callOutcome, commandIdOf, completedOutcome, failedOutcome } from './envelope.ts'
import type { CommandState, LoopState, State, StepOutcome, StepState } from './state.ts'
import { isTerminal, stepOf } from './state.ts'

const CONTROL_EVENTS: ReadonlySet<string> = new Set([
  EVENT.stepEnter,
  EVENT.stepSkipped,
  EVENT.stepExit,
  EVENT.contextUpdated,
  EVENT.commandIssued,
  EVENT.commandReleased,
])

export const evolve = (state: State, event: EventRecord): void => {
  if (event.position <= state.position) return
  state.position = event.position
  if (isTerminal(state)) return
  const terminal = terminalStatusOf(event.eventType)
  if (terminal) return finish(state, event, terminal)
  const type = canonicalEventType(event.eventType)
  if (CONTROL_EVENTS.has(type) && event.meta['emitted_by'] !== 'orchestrator') return
  switch (type) {
    case EVENT.started:
      return start(state, event)
    case EVENT.stepEnter:
      return enterStep(state, event)
    case EVENT.stepSkipped:
      return skipStep(state, event)
    case EVENT.stepExit:
      return exitStep(state, event)
    case EVENT.contextUpdated:
      return updateContext(state, event)
    case EVENT.commandIssued:
      return issueCommand(state, event)
    case EVENT.commandClaimed:
      return claimCommand(state, event)
    case EVENT.commandReleased:
      return releaseCommand(state, event)
    case EVENT.callDone:
      return callEnded(state, event, callOutcome(event.result, event.status))
    case EVENT.callError:
      return callEnded(state, event, failedOutcome(event.result, event.error))
    case EVENT.commandCompleted:
      return endCommand(state, event, completedOutcome(event.result, event.status))
    case EVENT.commandFailed:
    case EVENT.commandCancelled:
      return endCommand(state, event, failedOutcome(event.result, event.error))
    default:
      return undefined
  }
}

const start = (state: State, event: EventRecord): void => {
  if (state.status !== null) return
  const context = isObject(event.context) ? event.context : {}
  const { meta } = event
  state.status = 'RUNNING'
  state.startedAt = event.createdAt
  state.catalogId = textOr(context['catalog_id'], state.catalogId)
  state.path = textOr(context['path'], event.nodeName ?? '')
  state.workload = isObject(context['workload']) ? context['workload'] : {}
  state.playbookVersion = typeof meta['version'] === 'number' ? meta['version'] : null
  state.parentExecutionId = typeof meta['parent_execution_id'] === 'string' ? meta['parent_execution_id'] : null
  state.pool = textOr(meta['pool'], 'shared')
  state.trace = meta['trace'] ?? null
  // The entry step gets its token without an arc.
  state.tokens.push({ from: '', to: textOr(meta['entry'], 'start') })
}

const textOr = (value: Json | undefined, fallback: string): string => (typeof value === 'string' ? value : fallback)

const enterStep = (state: State, event: EventRecord): void => {
  const name = event.nodeName
  if (name === null) return
  const context = event.result?.context ?? {}
  const step = activate(state, name)
  if (!step.entered) state.counts.entered += 1
  step.entered = true
  step.phase = 'running'
  state.running.add(name)
  state.currentStep = name
  if (event.meta['final'] === true) state.finalStepEntered = true
  const items = context['items']
  step.loop = Array.isArray(items) ? openLoop(items, context['window'], context['on_error']) : null
  if (step.loop?.total === 0) settleLoop(state, name, step, step.loop, event.eventId)
  else if (context['tool'] === false) settle(state, name, step, event.eventId, 'ok')
}

/** A new run of the step: its waiting tokens are used up. */
const activate = (state: State, name: string): StepState => {
  const step = stepOf(state, name)
  step.run += 1
  step.blocked = false
  state.stepRuns += 1
  state.deadTargets.delete(name)
  if (state.tokens.some((token) => token.to === name)) {
    state.tokens = state.tokens.filter((token) => token.to !== name)
  }
  return step
}

const openLoop = (items: readonly Json[], window: Json | undefined, onError: Json | undefined): LoopState => ({
  items,
  total: items.length,
  window: typeof window === 'number' ? window : 1,
  continueOnError: onError === 'continue',
  next: 0,
  outstanding: 0,
  done: 0,
  failed: 0,
  results: Array.from({ length: items.length }, () => null),
  error: null,
})

const skipStep = (state: State, event: EventRecord): void => {
  const name = event.nodeName
  if (name === null) return
  const reason = event.result?.context?.['reason']
  if (reason === 'guard') {
    const step = activate(state, name)
    if (event.meta['final'] === true) state.finalStepEntered = true
    step.error = null
    settle(state, name, step, event.eventId, 'bypassed')
    return
  }
  state.deadTargets.delete(name)
  const step = stepOf(state, name)
  if (reason === 'upstream_failed') {
    state.tokens = state.tokens.filter((token) => token.to !== name)
    step.blocked = true
  }
  if (step.run === 0) step.outcome = 'skipped'
  markDead(state, event.result?.context?.['dead'])
}

/** Targets of dead arcs that never ran and were not reported yet. */
const markDead = (state: State, names: Json | undefined): void => {
  if (!Array.isArray(names)) return
  for (const name of names) {
    if (typeof name !== 'string') continue
    const step = state.steps.get(name)
    if (!step || (step.run === 0 && step.outcome === null)) state.deadTargets.add(name)
  }
}

const exitStep = (state: State, event: EventRecord): void => {
  const name = event.nodeName
  if (name === null) return
  const context = event.result?.context ?? {}
  const step = stepOf(state, name)
  step.phase = 'rest'
  state.settled = state.settled.filter((settled) => settled !== name)
  const next = Array.isArray(context['next']) ? context['next'] : []
  for (const to of next) if (typeof to === 'string') state.tokens.push({ from: name, to })
  markDead(state, context['dead'])
  step.handled = context['handled'] === true
  if (event.result?.status === 'FAILED' && !step.handled) {
    state.failures.push({ step: name, error: event.error ?? step.error?.message ?? 'failed' })
  }
}

const updateContext = (state: State, event: EventRecord): void => {
  const values = event.result?.context?.['values']
  if (isObject(values)) for (const key of Object.keys(values)) setOwn(state.vars, key, values[key] ?? null)
}

/** Assignment that treats `__proto__` as an ordinary key. */
const setOwn = (target: Record<string, Json>, key: string, value: Json): void => {
  if (key === '__proto__') Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  else target[key] = value
}

const issueCommand = (state: State, event: EventRecord): void => {
  const { meta } = event
  const name = event.nodeName
  const commandId = commandIdOf(meta, undefined)
  if (name === null || commandId === null) return
  const step = stepOf(state, name)
  const index = typeof meta['iteration_index'] === 'number' ? meta['iteration_index'] : null
  if (step.loop && index !== null) {
    step.loop.next = index + 1
    step.loop.outstanding += 1
  }
  state.commands.set(commandId, {
    eventId: event.eventId,
    commandId,
    position: event.position,
    step: name,
    run: step.run,
    index,
    toolKind: textOr(meta['tool_kind'], event.nodeType ?? 'noop'),
    maxAttempts: typeof meta['max_attempts'] === 'number' ? meta['max_attempts'] : 3,
    workerId: null,
    leaseToken: null,
    attempt: 0,
    early: null,
  })
}

const commandOf = (state: State, event: EventRecord): CommandState | undefined => {
  const commandId = commandIdOf(event.meta, event.result?.context)
  return commandId === null ? undefined : state.commands.get(commandId)
}

const claimCommand = (state: State, event: EventRecord): void => {
  const command = commandOf(state, event)
  if (!command) return
  command.workerId = event.workerId
  command.leaseToken = textOr(event.meta['lease'], '0')
  command.attempt += 1
}

const releaseCommand = (state: State, event: EventRecord): void => {
  const command = commandOf(state, event)
  if (!command) return
  if (event.meta['reason'] === 'handed_back' && command.workerId !== null) command.attempt -= 1
  command.workerId = null
  command.leaseToken = null
  command.early = null
}

const callEnded = (state: State, event: EventRecord, { data, error }: Outcome): void => {
  const command = commandOf(state, event)
  if (command) command.early = { data, error }
}

const endCommand = (state: State, event: EventRecord, reported: Outcome): void => {
  const command = commandOf(state, event)
  if (!command) return
  state.commands.delete(command.commandId)
  const step = stepOf(state, command.step)
  if (step.run !== command.run) return
  const data = reported.data === undefined ? command.early?.data : reported.data
  const error = reported.ok ? null : (command.early?.error ?? reported.error)
  if (step.loop && command.index !== null) {
    endIteration(state, command, step, step.loop, event.eventId, { ok: reported.ok, data, error })
    return
  }
  // A failed run without data leaves none: what an earlier run gave is not its result.
  step.data = data === undefined && reported.ok ? null : data
  step.looped = false
  step.error = error
  settle(state, command.step, step, event.eventId, reported.ok ? 'ok' : 'error')
}

const endIteration = (
  state: State,
  command: CommandState,
  step: StepState,
  loop: LoopState,
  eventId: string,
  { ok, data, error }: Outcome,
): void => {
  loop.outstanding -= 1
  loop.done += 1
  loop.results[command.index ?? 0] = data ?? null
  if (!ok) {
    loop.failed += 1
    loop.error ??= error
  }
  if (loop.outstanding === 0 && (loop.done === loop.total || isStopped(loop))) {
    settleLoop(state, command.step, step, loop, eventId)
  }
}

/** A loop that failed issues nothing more. */
export const isStopped = (loop: LoopState): boolean => loop.error !== null && !loop.continueOnError

const settleLoop = (state: State, name: string, step: StepState, loop: LoopState, eventId: string): void => {
  const { total, done, failed } = loop
  step.data = { results: loop.results, stats: { total, success: done - failed, failed } }
  step.looped = true
  step.loop = null
  const failedLoop = isStopped(loop)
  step.error = failedLoop ? loop.error : null
  settle(state, name, step, eventId, failedLoop ? 'error' : 'ok')
}

const settle = (state: State, name: string, step: StepState, eventId: string, outcome: StepOutcome): void => {
  state.running.delete(name)
  state.settled.push(name)
  if (step.outcome === 'ok') state.counts.completed -= 1
  if (step.outcome === 'error') state.counts.failed -= 1
  if (outcome === 'ok') {
    state.counts.completed += 1
    if (step.data !== undefined) state.lastCompleted = name
  }
  if (outcome === 'error') state.counts.failed += 1
  step.phase = 'settled'
  step.outcome = outcome
  step.handled = false
  step.settledBy = eventId
}

const finish = (state: State, event: EventRecord, status: NonNullable<State['status']>): void => {
  state.status = status
  state.finishedAt = event.createdAt
  const reported = event.result?.context?.['error']
  state.error = event.error ?? (typeof reported === 'string' ? reported : null)
  state.commands.clear()
  state.running.clear()
  state.deadTargets.clear()
  state.tokens = []
  state.settled = []
}
