/** Ending a command from the inside: the control plane itself knows its outcome. */
import type { ToolError } from '../contract/command.ts'
import { EVENT } from '../contract/event.ts'
import type { Json } from '../contract/json.ts'
import { advance } from './advance.ts'
import type { Session } from './session.ts'
import { emit } from './session.ts'
import type { CommandState } from './state.ts'

export const failCommand = (session: Session, command: CommandState, error: ToolError): string => {
  session.changes.push({ eventId: command.eventId, status: 'FAILED' })
  const { eventId } = emit(session, {
    eventType: EVENT.commandFailed,
    nodeName: command.step,
    status: 'FAILED',
    workerId: command.workerId,
    result: { status: 'FAILED', context: { command_id: command.commandId, error: { ...error } } },
    meta: { command_id: command.commandId, attempt: command.attempt, emitted_by: 'orchestrator' },
    error: error.message,
  })
  session.trigger = eventId
  advance(session, command.step)
  return eventId
}

export const completeCommand = (session: Session, command: CommandState, data: Json): string => {
  session.changes.push({ eventId: command.eventId, status: 'COMPLETED' })
  const context = {
    command_id: command.commandId,
    call_index: 0,
    result: { status: 'success', context: { data } },
  }
  const { eventId } = emit(session, {
    eventType: EVENT.commandCompleted,
    nodeName: command.step,
    status: 'COMPLETED',
    workerId: command.workerId,
    result: { status: 'COMPLETED', context },
    meta: { command_id: command.commandId, attempt: command.attempt, emitted_by: 'orchestrator' },
  })
  session.trigger = eventId
  advance(session, command.step)
  return eventId
}
