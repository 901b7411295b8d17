/**
 * Commands and loops.
 *
 * 1. What belongs to no command leaves the status of a command alone, although it may name one.
 * 2. A loop counts a command once, however often its end is reported; an end that names no command always counts.
 * 3. A command that is parked, reported as completed with the status PENDING, has not ended.
 */
import type { CommandProjection, FoldState, LoopProjection } from './fold-state.ts'
import { UNKNOWN } from './fold-state.ts'
import type { Integer, ReplayEvent } from './replay-event.ts'
import { integerAt, textAt } from './replay-event.ts'

export interface CommandRelations {
  readonly stageId: string | null
  readonly frameId: string | null
}

export const foldCommand = (
  state: FoldState,
  event: ReplayEvent,
  commandId: string,
  { stageId, frameId }: CommandRelations,
): void => {
  const { eventId, eventType, meta } = event
  const command = state.commands.get(commandId) ?? createCommand(state, commandId)
  command.last_event_id = eventId
  command.stage_id = stageId ?? command.stage_id
  command.frame_id = frameId ?? command.frame_id
  command.parent_command_id = textAt(meta, 'parent_command_id') ?? command.parent_command_id
  command.worker_id = event.workerId ?? textAt(meta, 'worker_id') ?? command.worker_id
  command.worker_locator = textAt(meta, 'worker_locator') ?? command.worker_locator
  switch (eventType) {
    case 'command.issued':
      command.status = event.status || 'PENDING'
      command.issued_event_id = eventId
      break
    case 'command.claimed':
      command.status = event.status || 'CLAIMED'
      command.claimed_event_id = eventId
      break
    case 'command.started':
      command.status = event.status || 'RUNNING'
      command.started_event_id = eventId
      break
    case 'command.completed':
      if (isParking(event)) command.status = PARKED
      else endCommand(command, event, 'COMPLETED')
      break
    case 'command.failed':
      endCommand(command, event, 'FAILED')
      break
    case 'command.cancelled':
      endCommand(command, event, 'CANCELLED')
      break
    default:
      if (eventType.startsWith('command.')) command.status = event.status || command.status
  }
}

const PARKED = 'PENDING'

/** The worker is done with it; something outside will end it. */
const isParking = ({ status }: ReplayEvent): boolean => status === PARKED

const endCommand = (
  command: CommandProjection,
  { eventId, status }: ReplayEvent,
  otherwise: string,
): void => {
  command.status = status || otherwise
  command.terminal_event_id = eventId
}

const createCommand = (state: FoldState, commandId: string): CommandProjection => {
  const command: CommandProjection = {
    command_id: commandId,
    stage_id: null,
    frame_id: null,
    parent_command_id: null,
    worker_id: null,
    worker_locator: null,
    status: UNKNOWN,
    issued_event_id: null,
    claimed_event_id: null,
    started_event_id: null,
    terminal_event_id: null,
    last_event_id: null,
    loop: null,
  }
  state.commands.set(commandId, command)
  return command
}

export const foldLoop = (
  state: FoldState,
  event: ReplayEvent,
  loopId: string,
  commandId: string | null,
  total: Integer | null = null,
): LoopProjection => {
  const loop = state.loops.get(loopId) ?? createLoop(state, event, loopId, total)
  loop.last_event_id = event.eventId
  switch (event.eventType) {
    case 'command.completed':
    case 'loop.shard.done':
      if (!isParking(event) && countsFor(loop, commandId)) loop.done += 1
      break
    case 'command.failed':
    case 'loop.shard.failed':
      if (countsFor(loop, commandId)) loop.failed += 1
      break
    case 'loop.done':
    case 'loop.fanin.completed':
      loop.completed = true
      break
    default:
  }
  return loop
}

const countsFor = ({ counted }: LoopProjection, commandId: string | null): boolean => {
  if (commandId === null) return true
  if (counted.has(commandId)) return false
  counted.add(commandId)
  return true
}

const createLoop = (
  state: FoldState,
  { nodeName, meta }: ReplayEvent,
  loopId: string,
  total: Integer | null,
): LoopProjection => {
  const loop: LoopProjection = {
    loop_id: loopId,
    step_name: nodeName,
    total: integerAt(meta, 'collection_size') ?? integerAt(meta, 'total') ?? total,
    done: 0,
    failed: 0,
    completed: false,
    last_event_id: null,
    counted: new Set(),
  }
  state.loops.set(loopId, loop)
  return loop
}
