/**
 * Events from workers. They are recorded as they came; only those that end a command make something follow.
 *
 * 1. A report counts only from the holder of the current lease; without a token or a name nobody is refused.
 * 2. A command that nobody claimed is claimed by its report.
 * 3. A report about a command that ended before is acknowledged and changes nothing.
 * 4. A report to a terminal execution is recorded and changes nothing.
 * 5. A parked command is claimed by nobody; whoever brings its outcome ends it, also when that came before the parking.
 */
import { canonicalEventType, defaultEventStatus, EVENT, terminalStatusOf } from '../contract/event.ts'
import type { EventResult } from '../contract/event.ts'
import type { JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { advance } from './advance.ts'
import type { Outcome } from './envelope.ts'
import { callOutcome, commandIdOf, completedOutcome, failedOutcome } from './envelope.ts'
import { earlyOutcome } from './evolve-commands.ts'
import { endWith } from './finish.ts'
import type { ReportInput, Reply } from './input.ts'
import { accepted, known, refused } from './input.ts'
import { emitClaimed } from './lease.ts'
import type { EventDraft, Session } from './session.ts'
import { emit } from './session.ts'
import type { CommandState, State } from './state.ts'
import { isTerminal } from './state.ts'
import { applyExports } from './variables.ts'

const COMMAND_EVENTS: ReadonlySet<string> = new Set([
  EVENT.commandClaimed,
  EVENT.commandStarted,
  EVENT.commandCompleted,
  EVENT.commandFailed,
  EVENT.commandCancelled,
  EVENT.callDone,
  EVENT.callError,
])

const ENDING_EVENTS: ReadonlySet<string> = new Set([
  EVENT.commandCompleted,
  EVENT.commandFailed,
  EVENT.commandCancelled,
])
/** They end a command that was parked. */
const CALL_EVENTS: ReadonlySet<string> = new Set([EVENT.callDone, EVENT.callError])

export const recordReport = (session: Session, input: ReportInput): Reply => {
  const { state } = session
  const type = canonicalEventType(input.eventType)
  if (isTerminal(state)) return accepted(emit(session, draftOf(input, input.commandId)).eventId)
  if (terminalStatusOf(type))
    return accepted(endWith(session, { ...draftOf(input, null), nodeName: 'playbook' }))
  if (!COMMAND_EVENTS.has(type)) return accepted(emit(session, draftOf(input, input.commandId)).eventId)
  const found = findCommand(state, input)
  if (typeof found === 'string') return refused('invalid', found)
  if (!found) return known(input.eventId ?? '0')
  return recordCommandEvent(session, input, type, found)
}

const recordCommandEvent = (
  session: Session,
  input: ReportInput,
  type: string,
  command: CommandState,
): Reply => {
  const lost = leaseProblem(command, input, type)
  if (lost) return lost
  if (command.parked) return recordParked(session, input, type, command)
  if (command.workerId === null && input.workerId !== null) {
    const eventId = emitClaimed(session, command, input.workerId, '0')
    session.changes.push({ eventId: command.eventId, status: 'CLAIMED', workerId: input.workerId })
    if (type === EVENT.commandClaimed) return accepted(eventId)
  } else if (type === EVENT.commandClaimed) {
    return known('0')
  }
  const { eventId } = emit(session, draftOf(input, command.commandId))
  if (command.parked) parkCommand(session, command, input)
  else if (ENDING_EVENTS.has(type)) endCommand(session, command, type, input, eventId)
  return accepted(eventId)
}

const recordParked = (session: Session, input: ReportInput, type: string, command: CommandState): Reply => {
  const { commandId } = command
  if (type === EVENT.commandClaimed)
    return refused('conflict', `Command ${commandId} is parked; it waits for an answer from outside`)
  if (type === EVENT.commandCompleted && isPending(input)) return known(input.eventId ?? '0')
  const { eventId } = emit(session, draftOf(input, commandId))
  if (ENDING_EVENTS.has(type) || CALL_EVENTS.has(type)) endCommand(session, command, type, input, eventId)
  return accepted(eventId)
}

const isPending = ({ context }: ReportInput): boolean =>
  isObject(context) && context['pending_callback'] === true

/** The worker let go; the step waits for a callback, a child or the end of its time. */
const parkCommand = (session: Session, command: CommandState, input: ReportInput): void => {
  session.changes.push({ eventId: command.eventId, status: 'PARKED' })
  const timeout = isObject(input.context) ? input.context['timeout_ms'] : null
  if (typeof timeout !== 'number') return
  session.timers.push({
    timerId: session.environment.nextId(),
    kind: 'command_timeout',
    delayMs: timeout,
    payload: { command_id: command.commandId, timeout_ms: timeout },
  })
}

const endCommand = (
  session: Session,
  command: CommandState,
  type: string,
  input: ReportInput,
  eventId: string,
): void => {
  const outcome = outcomeOf(type, input, command)
  session.changes.push({ eventId: command.eventId, status: outcome.ok ? 'COMPLETED' : 'FAILED' })
  session.trigger = eventId
  const context = isObject(input.context) ? input.context : {}
  const data = outcome.data === undefined ? command.early?.data : outcome.data
  advance(session, command.step, () => applyExports(session, command.step, context, data))
}

const outcomeOf = (type: string, input: ReportInput, { early }: CommandState): Outcome => {
  const result = resultOf(input, '')
  if (type === EVENT.callDone) return callOutcome(result, input.status)
  if (type !== EVENT.commandCompleted) return failedOutcome(result, null)
  return isPending(input) && early ? earlyOutcome(early) : completedOutcome(result, input.status)
}

/** The command a report belongs to; text says why it cannot be told. */
const findCommand = (state: State, input: ReportInput): CommandState | string | undefined => {
  if (input.commandId !== null) return state.commands.get(input.commandId)
  const open = [...state.commands.values()].filter((command) => command.step === input.step)
  if (open.length > 1)
    return `Step '${input.step}' has ${open.length} open commands; name one with command_id`
  return open[0]
}

const leaseProblem = (command: CommandState, input: ReportInput, type: string): Reply | null => {
  const { workerId, leaseToken } = command
  if (input.leaseToken !== null && input.leaseToken !== leaseToken) {
    return refused('lease_lost', `The lease of command ${command.commandId} has passed to another worker`)
  }
  if (workerId !== null && input.workerId !== null && input.workerId !== workerId) {
    return type === EVENT.commandClaimed
      ? refused('conflict', `Command already claimed by ${workerId}`)
      : refused('lease_lost', `Command ${command.commandId} is held by ${workerId}`)
  }
  return null
}

const draftOf = (input: ReportInput, commandId: string | null): EventDraft => {
  const status = input.status ?? defaultEventStatus(input.eventType)
  // Whose decision an event is cannot be claimed by a client.
  const { emitted_by: _emittedBy, ...given } = input.meta
  const meta: JsonObject = commandId === null ? given : { ...given, command_id: commandId }
  return {
    eventType: input.eventType,
    nodeName: input.step,
    status,
    result: resultOf(input, status),
    meta,
    error: errorText(input),
    workerId: input.workerId,
    durationMs: input.durationMs,
    ...(input.eventId === null ? {} : { eventId: input.eventId, idFromSender: true }),
    ...(input.createdAt === null ? {} : { createdAt: input.createdAt }),
  }
}

const resultOf = (input: ReportInput, status: string): EventResult => ({
  status,
  ...(isObject(input.context) ? { context: input.context } : {}),
  ...(input.reference === null ? {} : { reference: input.reference }),
})

const errorText = (input: ReportInput): string | null => {
  const error = isObject(input.context) ? input.context['error'] : null
  if (typeof error === 'string') return error
  return isObject(error) && typeof error['message'] === 'string' ? error['message'] : null
}

/** The command a client's event names, in any of the places clients use. */
export const namedCommand = (context: unknown, meta: JsonObject): string | null =>
  commandIdOf(meta, isObject(context) ? context : undefined)
