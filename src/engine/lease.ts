/**
 * Leases as the log knows them.
 *
 * 1. A command has at most one holder; its token is the proof.
 * 2. A lease that ends without a report makes the command wait again, until its attempts are used up; then it
 *    fails like any other command, and the playbook may route that failure.
 * 3. A parked command is held by nobody and can be neither claimed nor let go: its work is under way elsewhere.
 * 4. Who finds a lease run out, and says so late, does not end the lease of somebody who took the command since.
 */
import { EVENT } from '../contract/event.ts'
import { failCommand } from './end-command.ts'
import type { ClaimInput, ReleaseInput, Reply } from './input.ts'
import { accepted, known, refused } from './input.ts'
import type { Session } from './session.ts'
import { emit } from './session.ts'
import type { CommandState } from './state.ts'
import { isTerminal } from './state.ts'

export const claimCommand = (session: Session, input: ClaimInput): Reply => {
  const { state } = session
  const command = state.commands.get(input.commandId)
  if (state.status === 'CANCELLED') return refused('already_terminal', 'Execution has been cancelled')
  if (isTerminal(state) || !command)
    return refused('already_terminal', 'Command already reached terminal state')
  if (command.parked)
    return refused('conflict', `Command ${input.commandId} is parked; it waits for an answer from outside`)
  if (command.workerId === input.workerId && command.leaseToken === input.leaseToken)
    return known(command.eventId)
  if (command.workerId !== null) return refused('conflict', `Command already claimed by ${command.workerId}`)
  return accepted(emitClaimed(session, command, input.workerId, input.leaseToken))
}

export const emitClaimed = (
  session: Session,
  command: CommandState,
  workerId: string,
  leaseToken: string,
): string => {
  const { commandId } = command
  return emit(session, {
    eventType: EVENT.commandClaimed,
    nodeName: command.step,
    status: 'RUNNING',
    workerId,
    result: { status: 'RUNNING', context: { command_id: commandId, worker_id: workerId } },
    meta: {
      command_id: commandId,
      worker_id: workerId,
      attempt: command.attempt + 1,
      lease: leaseToken,
      actionable: false,
      informative: true,
    },
  }).eventId
}

export const releaseCommand = (session: Session, input: ReleaseInput): Reply => {
  const command = session.state.commands.get(input.commandId)
  if (!command) return refused('already_terminal', 'Command already reached terminal state')
  const isOther = input.leaseToken !== null && command.leaseToken !== input.leaseToken
  if (command.parked || isOther || isSince(command, input.before)) {
    return refused('lease_lost', `Command ${input.commandId} is not held with this lease any more`)
  }
  const spent = input.reason === 'lease_expired' && command.attempt >= command.maxAttempts
  return accepted(spent ? giveUp(session, command) : waitAgain(session, command, input.reason))
}

/** Tokens are counted by the queue; a claim that came with a report has the token 0. */
const isSince = ({ leaseToken }: CommandState, before: string | undefined): boolean =>
  before !== undefined && leaseToken !== null && BigInt(leaseToken) >= BigInt(before)

const waitAgain = (session: Session, command: CommandState, reason: ReleaseInput['reason']): string => {
  session.changes.push({ eventId: command.eventId, status: 'PENDING' })
  return emit(session, {
    eventType: EVENT.commandReleased,
    nodeName: command.step,
    status: 'PENDING',
    workerId: command.workerId,
    result: { status: 'PENDING', context: { command_id: command.commandId } },
    meta: {
      command_id: command.commandId,
      reason,
      attempt: command.attempt,
      worker_id: command.workerId,
      emitted_by: 'orchestrator',
    },
  }).eventId
}

const giveUp = (session: Session, command: CommandState): string =>
  failCommand(session, command, {
    kind: 'worker_lost',
    code: 'LEASE_EXPIRED',
    message: `Worker ${command.workerId ?? 'unknown'} stopped answering; given up after ${command.attempt} attempts`,
    retryable: true,
  })
