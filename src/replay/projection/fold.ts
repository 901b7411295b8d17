/**
 * The fold of a log into what replay shows of it.
 *
 * 1. Events count in the order of their ids, whatever order they arrived in.
 * 2. An event that is there twice counts once.
 * 3. The fold of a beginning, continued with the rest, is the fold of the whole.
 * 4. One event costs the same at any length of the log.
 */
import { terminalStatusOf } from '../../contract/event.ts'
import { foldBusinessObject } from './fold-business-object.ts'
import { foldCommand, foldLoop } from './fold-command-loop.ts'
import { foldOwnLoop } from './fold-own-loop.ts'
import { foldFrame, foldStage } from './fold-stage-frame.ts'
import type { FoldState, PayloadRef } from './fold-state.ts'
import { createFoldState, UNKNOWN } from './fold-state.ts'
import {
  businessIdentityOf,
  businessPartOf,
  commandIdOf,
  frameIdOf,
  loopIdOf,
  stageIdOf,
} from './identity.ts'
import type { ReplayEvent } from './replay-event.ts'
import { compareEventIds } from './replay-event.ts'

/** Folds one event, whose id must not be below those before; answers false for a repetition of the last one. */
export const foldEvent = (state: FoldState, event: ReplayEvent): boolean => {
  const { eventId } = event
  if (state.lastEventId !== null) {
    const order = compareEventIds(eventId, state.lastEventId)
    if (order === 0) return false
    if (order < 0) throw new RangeError(`event ${eventId} comes after event ${state.lastEventId}`)
  }
  state.eventCount += 1
  state.lastEventId = eventId
  state.lastEventType = event.eventType
  const payload: PayloadRef | null =
    event.reference === null ? null : { event_id: eventId, reference: event.reference }
  foldExecution(state, event, payload)
  const stageId = stageIdOf(event)
  const frameId = frameIdOf(event)
  const commandId = commandIdOf(event)
  if (stageId !== null) foldStage(state, event, stageId)
  if (frameId !== null) foldFrame(state, event, frameId, { stageId, commandId })
  if (commandId !== null) foldCommand(state, event, commandId, { stageId, frameId })
  const loopId = loopIdOf(event)
  if (loopId !== null) foldLoop(state, event, loopId, commandId)
  else foldOwnLoop(state, event, commandId)
  const part = businessPartOf(event)
  const identity = businessIdentityOf(event, part)
  if (identity !== null) foldBusinessObject(state, event, identity, part, payload)
  return true
}

const foldExecution = (
  { execution }: FoldState,
  { eventType, nodeName }: ReplayEvent,
  payload: PayloadRef | null,
): void => {
  if (payload !== null) execution.payload_refs.push(payload)
  switch (eventType) {
    case 'step.enter':
    case 'step_enter':
    case 'step_started':
      if (execution.status === UNKNOWN) execution.status = 'RUNNING'
      execution.last_node_name = nodeName ?? execution.last_node_name
      break
    case 'step.exit':
    case 'step_completed':
    case 'command.completed':
      execution.last_node_name = nodeName ?? execution.last_node_name
      break
    // A retry in place: what had ended runs again.
    case 'playbook.reopened':
      execution.status = 'RUNNING'
      break
    default:
      // The newest end counts: a log from elsewhere may have several.
      execution.status = terminalStatusOf(eventType) ?? execution.status
  }
}

/** Folds events that come in any order, once each. */
export const foldEvents = (
  events: readonly ReplayEvent[],
  state: FoldState = createFoldState(),
): FoldState => {
  for (const event of events.toSorted((left, right) => compareEventIds(left.eventId, right.eventId)))
    foldEvent(state, event)
  return state
}
