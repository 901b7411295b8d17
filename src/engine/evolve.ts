/**
 * evolve(state, event): the fold. The only code that changes a State.
 *
 * 1. Positions grow by one; an event at or below the state's position changes nothing.
 * 2. Unknown event types only advance the position.
 * 3. The first terminal event wins; whatever follows it changes nothing but the position, unless the control plane
 *    opens the execution again.
 * 4. A report about a command without an entry in `commands` changes nothing: it ended before.
 * 5. Only the control plane enters, skips and routes steps, writes variables, issues and releases commands. Events
 *    of those types from anybody else are history.
 */
import type { EventRecord } from '../contract/event.ts'
import { canonicalEventType, EVENT, terminalStatusOf } from '../contract/event.ts'
import type { Json } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { callOutcome, completedOutcome, failedOutcome } from './envelope.ts'
import {
  callEnded,
  claimCommand,
  endCommand,
  issueCommand,
  parkCommand,
  releaseCommand,
} from './evolve-commands.ts'
import { enterStep, exitStep, skipStep } from './evolve-steps.ts'
import { keepStep, seed } from './fork-state.ts'
import { cutOff, reopen } from './reopen-state.ts'
import type { State } from './state.ts'
import { isTerminal, textOr } from './state.ts'

const CONTROL_EVENTS: ReadonlySet<string> = new Set([
  EVENT.stepEnter,
  EVENT.stepSkipped,
  EVENT.stepExit,
  EVENT.contextUpdated,
  EVENT.commandIssued,
  EVENT.commandReleased,
  EVENT.stepKept,
  EVENT.seeded,
])

export const evolve = (state: State, event: EventRecord): void => {
  if (event.position <= state.position) return
  state.position = event.position
  if (isTerminal(state)) {
    if (event.eventType === EVENT.reopened && isOurs(event)) reopen(state, event)
    return
  }
  const terminal = terminalStatusOf(event.eventType)
  if (terminal) return finish(state, event, terminal)
  const type = canonicalEventType(event.eventType)
  if (CONTROL_EVENTS.has(type) && !isOurs(event)) return
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
      if (event.result?.context?.['pending_callback'] === true) return parkCommand(state, event)
      return endCommand(state, event, completedOutcome(event.result, event.status))
    case EVENT.commandFailed:
    case EVENT.commandCancelled:
      return endCommand(state, event, failedOutcome(event.result, event.error))
    case EVENT.stepKept:
      return keepStep(state, event)
    case EVENT.seeded:
      return seed(state, event)
    default:
      return undefined
  }
}

/** Decided by the control plane itself; nobody else can write that into an event. */
const isOurs = ({ meta }: EventRecord): boolean => meta['emitted_by'] === 'orchestrator'

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
  state.parentExecutionId =
    typeof meta['parent_execution_id'] === 'string' ? meta['parent_execution_id'] : null
  state.pool = textOr(meta['pool'], 'shared')
  state.trace = meta['trace'] ?? null
  state.parentCommandId = typeof meta['parent_command_id'] === 'string' ? meta['parent_command_id'] : null
  state.depth = typeof meta['depth'] === 'number' ? meta['depth'] : 0
  state.origin = originOf(meta['origin'])
  // The entry step gets its token without an arc; a fork goes on where its seed says.
  if (meta['seeded'] !== true) state.tokens.push({ from: '', to: textOr(meta['entry'], 'start') })
}

const originOf = (value: Json | undefined): State['origin'] => {
  if (!isObject(value) || typeof value['execution_id'] !== 'string') return null
  const { execution_id: executionId, event_id: eventId, position } = value
  return {
    executionId,
    eventId: typeof eventId === 'string' ? eventId : null,
    position: typeof position === 'number' ? position : 0,
  }
}

const updateContext = (state: State, event: EventRecord): void => {
  const values = event.result?.context?.['values']
  if (isObject(values)) for (const key of Object.keys(values)) setOwn(state.vars, key, values[key] ?? null)
}

/** Assignment that treats `__proto__` as an ordinary key. */
const setOwn = (target: Record<string, Json>, key: string, value: Json): void => {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  else target[key] = value
}

const finish = (state: State, event: EventRecord, status: NonNullable<State['status']>): void => {
  state.status = status
  state.finishedAt = event.createdAt
  const reported = event.result?.context?.['error']
  state.error = event.error ?? (typeof reported === 'string' ? reported : null)
  cutOff(state)
}
