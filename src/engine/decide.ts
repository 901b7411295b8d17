/**
 * decide(session, input): the one entrance to the engine. Pure but for the state it owns: same state, same
 * input, same environment, same events.
 */
import { EVENT } from '../contract/event.ts'
import { cancelExecution } from './cancel.ts'
import { endWith } from './finish.ts'
import type { FinalizeInput, Input, Reply } from './input.ts'
import { accepted, refused } from './input.ts'
import { claimCommand, releaseCommand } from './lease.ts'
import { reopenExecution } from './reopen.ts'
import { recordReport } from './report.ts'
import type { Session } from './session.ts'
import { startExecution } from './start.ts'
import { writeFromOutside } from './variables.ts'
import { childEnded, commandTimedOut } from './waiting.ts'
import { isTerminal } from './state.ts'

export const decide = (session: Session, input: Input): Reply => {
  const reply = decideInput(session, input)
  if (input.actor !== undefined && reply.ok) sign(session, reply.eventId, input.actor)
  return reply
}

/** Names who asked on the event that records it. The state is folded already: it knows nothing of it. */
const sign = ({ events }: Session, eventId: string, actor: string): void => {
  const at = events.findLastIndex((event) => event.eventId === eventId)
  const event = events[at]
  if (event) events[at] = { ...event, meta: { ...event.meta, actor } }
}

const decideInput = (session: Session, input: Input): Reply => {
  session.trigger = null
  const { status, executionId } = session.state
  // Its start was refused, or has not been decided yet.
  if (status === null && input.type !== 'start')
    return refused('not_found', `Execution not found: ${executionId}`)
  switch (input.type) {
    case 'start':
      return startExecution(session, input)
    case 'claim':
      return claimCommand(session, input)
    case 'release':
      return releaseCommand(session, input)
    case 'report':
      return recordReport(session, input)
    case 'child':
      return childEnded(session, input)
    case 'timeout':
      return commandTimedOut(session, input)
    case 'variables':
      return writeFromOutside(session, input)
    case 'reopen':
      return reopenExecution(session, input)
    case 'cancel':
      return cancelExecution(session, input)
    case 'finalize':
      return finalizeExecution(session, input)
    default:
      return unreachable(input)
  }
}

const finalizeExecution = (session: Session, { status, error }: FinalizeInput): Reply => {
  const { state } = session
  if (isTerminal(state))
    return refused('conflict', `Execution ${state.executionId} is already ${state.status}`)
  const eventId = endWith(session, {
    eventType: status === 'COMPLETED' ? EVENT.finalizedCompleted : EVENT.finalizedFailed,
    nodeName: 'playbook',
    status,
    result: { status, context: error === null ? {} : { error } },
    meta: { emitted_by: 'control_plane' },
    error,
  })
  return accepted(eventId)
}

const unreachable = (input: never): never => {
  throw new Error(`unknown input ${JSON.stringify(input)}`)
}
