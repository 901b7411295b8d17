/**
 * What ends a parked command from outside: its child, or the clock. Both may come late or twice; a command that has
 * ended is not ended again.
 */
import { completeCommand, failCommand } from './end-command.ts'
import type { ChildInput, Reply, TimeoutInput } from './input.ts'
import { accepted, known } from './input.ts'
import type { Session } from './session.ts'

export const childEnded = (session: Session, input: ChildInput): Reply => {
  const command = session.state.commands.get(input.commandId)
  // A child that was opened again meanwhile goes on; its next end is told, too.
  if (!command || input.status === 'RUNNING') return known('0')
  if (input.status === 'COMPLETED') return accepted(completeCommand(session, command, input.data))
  const what = input.status === 'CANCELLED' ? 'was cancelled' : 'failed'
  return accepted(
    failCommand(session, command, {
      kind: 'sub_playbook',
      code: `CHILD_${input.status}`,
      message: `Playbook ${input.path} (execution ${input.childId}) ${what}${input.error === null ? '' : `: ${input.error}`}`,
      retryable: false,
    }),
  )
}

export const commandTimedOut = (session: Session, input: TimeoutInput): Reply => {
  const command = session.state.commands.get(input.commandId)
  if (!command?.parked) return known('0')
  return accepted(
    failCommand(session, command, {
      kind: 'timeout',
      code: 'TIMEOUT',
      message: `No answer within ${input.timeoutMs / 1000} s`,
      retryable: true,
    }),
  )
}
