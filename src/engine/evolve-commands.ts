/** The fold of what happens to commands: issued, leased, let go, ended; and to the loops they belong to. */
import type { EventRecord } from '../contract/event.ts'
import type { Json } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type { Outcome } from './envelope.ts'
import { commandIdOf } from './envelope.ts'
import { isStopped, settle, settleCursor, settleLoop } from './evolve-steps.ts'
import type { CommandState, CursorState, EarlyResult, LoopState, State, StepState } from './state.ts'
import { stepOf, textOr } from './state.ts'

export const issueCommand = (state: State, event: EventRecord): void => {
  const { meta } = event
  const name = event.nodeName
  const commandId = commandIdOf(meta, undefined)
  if (name === null || commandId === null) return
  const step = stepOf(state, name)
  const index = typeof meta['iteration_index'] === 'number' ? meta['iteration_index'] : null
  const isClaim = isObject(meta['cursor']) && meta['cursor']['phase'] === 'claim'
  const loop = step.loop ?? step.cursor
  if (loop && index !== null) {
    if (step.loop && index < step.loop.next)
      step.loop.again = step.loop.again.filter((each) => each !== index)
    else loop.next = index + 1
    loop.outstanding += 1
  }
  if (step.cursor && isClaim) step.cursor.claiming = true
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
    isClaim,
    parked: false,
    early: null,
  })
}

const commandOf = (state: State, event: EventRecord): CommandState | undefined => {
  const commandId = commandIdOf(event.meta, event.result?.context)
  return commandId === null ? undefined : state.commands.get(commandId)
}

export const claimCommand = (state: State, event: EventRecord): void => {
  const command = commandOf(state, event)
  if (!command) return
  command.workerId = event.workerId
  command.leaseToken = textOr(event.meta['lease'], '0')
  command.attempt += 1
}

export const releaseCommand = (state: State, event: EventRecord): void => {
  const command = commandOf(state, event)
  if (!command) return
  if (event.meta['reason'] === 'handed_back' && command.workerId !== null) command.attempt -= 1
  command.workerId = null
  command.leaseToken = null
  command.early = null
}

/** The worker let go of the command: something outside will end it, unless it already told the outcome. */
export const parkCommand = (state: State, event: EventRecord): void => {
  const command = commandOf(state, event)
  if (!command) return
  if (command.early) return endCommand(state, event, earlyOutcome(command.early))
  command.parked = true
  command.workerId = null
  command.leaseToken = null
}

export const earlyOutcome = ({ data, error }: EarlyResult): Outcome => ({ ok: error === null, data, error })

export const callEnded = (state: State, event: EventRecord, outcome: Outcome): void => {
  const command = commandOf(state, event)
  if (!command) return
  if (command.parked) return endCommand(state, event, outcome)
  command.early = { data: outcome.data, error: outcome.error }
}

export const endCommand = (state: State, event: EventRecord, reported: Outcome): void => {
  const command = commandOf(state, event)
  if (!command) return
  state.commands.delete(command.commandId)
  const step = stepOf(state, command.step)
  if (step.run !== command.run) return
  const data = reported.data === undefined ? command.early?.data : reported.data
  const error = reported.ok ? null : (command.early?.error ?? reported.error)
  const outcome: Outcome = { ok: reported.ok, data, error }
  if (step.cursor && command.isClaim)
    return endClaim(state, command.step, step, step.cursor, event.eventId, outcome)
  if (step.cursor && command.index !== null)
    return endRow(state, command.step, step, step.cursor, event.eventId, outcome)
  if (step.loop && command.index !== null)
    return endIteration(state, command, step, step.loop, event.eventId, outcome)
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
    loop.failedAt.push(command.index ?? 0)
    loop.error ??= error
  }
  if (loop.outstanding === 0 && (loop.done === loop.total || isStopped(loop))) {
    settleLoop(state, command.step, step, loop, eventId)
  }
}

/** Rows of a claim make a frame; a claim without rows ends the loop. */
const endClaim = (
  state: State,
  name: string,
  step: StepState,
  cursor: CursorState,
  eventId: string,
  { ok, data, error }: Outcome,
): void => {
  cursor.claiming = false
  if (!ok) {
    cursor.error = error
    return settleCursor(state, name, step, cursor, eventId, true)
  }
  const rows = rowsOf(data)
  if (rows.length === 0) return settleCursor(state, name, step, cursor, eventId)
  cursor.rows = rows
  cursor.next = 0
  cursor.done = 0
}

const rowsOf = (data: Json | undefined): readonly Json[] => {
  if (Array.isArray(data)) return data
  return isObject(data) && Array.isArray(data['rows']) ? data['rows'] : []
}

const endRow = (
  state: State,
  name: string,
  step: StepState,
  cursor: CursorState,
  eventId: string,
  { ok, error }: Outcome,
): void => {
  cursor.outstanding -= 1
  cursor.done += 1
  cursor.processed += 1
  if (!ok) {
    cursor.failed += 1
    cursor.error ??= error
  }
  if (cursor.outstanding > 0) return
  if (isStopped(cursor)) return settleCursor(state, name, step, cursor, eventId)
  if (cursor.done === cursor.rows?.length) {
    cursor.frame += 1
    cursor.rows = null
  }
}
