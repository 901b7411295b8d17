/**
 * The end from outside, and how it reaches those below.
 *
 * 1. A cancel that cascades leaves a timer with its event. Whoever cancels the children deletes it when they are; if that server
 *    dies, the timer comes due and another one goes on.
 * 2. An execution with a parent leaves a timer with its start. Whoever starts it looks whether the parent was cancelled
 *    meanwhile and deletes the timer; if that server dies, another one looks.
 * 3. With both nobody is missed: a child that is on disk before the parent's children are listed is listed; one that comes later
 *    comes after the parent's cancel, and sees it.
 */
import { EVENT } from '../contract/event.ts'
import { endWith } from './finish.ts'
import type { CancelInput, Reply } from './input.ts'
import { accepted, refused } from './input.ts'
import type { Session } from './session.ts'
import { isTerminal } from './state.ts'

/** How long the server that is at it has before others take over. */
export const TAKE_OVER_MS = 5000

export const cancelExecution = (session: Session, { reason, cascade }: CancelInput): Reply => {
  const { state, environment } = session
  if (isTerminal(state)) return refused('invalid', `Cannot cancel execution in ${state.status} state`)
  const eventId = endWith(session, {
    eventType: EVENT.cancelled,
    nodeName: 'playbook',
    status: 'CANCELLED',
    meta: {
      emitted_by: 'control_plane',
      ...(reason === null ? {} : { reason }),
      // For a child that is being started at this moment: it is spared like the others.
      ...(cascade === false ? { cascade } : {}),
    },
    error: reason,
  })
  if (cascade === true)
    session.timers.push({
      timerId: environment.nextId(),
      kind: 'cancel_children',
      delayMs: TAKE_OVER_MS,
      payload: { event_id: eventId },
    })
  return accepted(eventId)
}

/** To be called once, when the start is decided. What is over already has nothing to cancel. */
export const lookAfterParent = ({ state, environment, timers }: Session): void => {
  if (state.parentExecutionId === null || isTerminal(state)) return
  timers.push({
    timerId: environment.nextId(),
    kind: 'follow_parent',
    delayMs: TAKE_OVER_MS,
    payload: { parent_execution_id: state.parentExecutionId },
  })
}
