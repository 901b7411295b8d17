/** Stages and frames: groups of work and their parts, known from imported logs. */
import type { LosslessObject } from '../canonical-json.ts'
import type { FoldState, FrameProjection, StageProjection } from './fold-state.ts'
import { UNKNOWN } from './fold-state.ts'
import type { ReplayEvent } from './replay-event.ts'
import { integerAt, largerInteger, textAt } from './replay-event.ts'

export const foldStage = (state: FoldState, event: ReplayEvent, stageId: string): void => {
  const { eventId, meta } = event
  const stage = state.stages.get(stageId) ?? createStage(state, event, stageId)
  stage.last_event_id = eventId
  stage.parent_stage_id = textAt(meta, 'parent_stage_id') ?? stage.parent_stage_id
  stage.loop_event_id = textAt(meta, 'loop_event_id') ?? stage.loop_event_id
  switch (event.eventType) {
    case 'stage.opened':
      stage.status = 'OPEN'
      stage.opened_event_id = eventId
      break
    case 'stage.closed':
      stage.status = event.status || 'CLOSED'
      stage.closed_event_id = eventId
      stage.frame_count = integerAt(meta, 'frame_count') ?? stage.frame_count
      stage.row_count = integerAt(meta, 'row_count') ?? stage.row_count
      stage.events_emitted = integerAt(meta, 'events_emitted') ?? stage.events_emitted
      stage.failed_count = integerAt(meta, 'failed_count') ?? stage.failed_count
      break
    default:
      stage.status = event.status || stage.status
  }
}

const createStage = (state: FoldState, { nodeName, meta }: ReplayEvent, stageId: string): StageProjection => {
  const stage: StageProjection = {
    stage_id: stageId,
    status: UNKNOWN,
    kind: textAt(meta, 'kind'),
    step_name: nodeName ?? textAt(meta, 'step_name'),
    parent_stage_id: null,
    loop_event_id: null,
    opened_event_id: null,
    closed_event_id: null,
    frame_count: 0,
    row_count: 0,
    events_emitted: 0,
    failed_count: 0,
    last_event_id: null,
  }
  state.stages.set(stageId, stage)
  return stage
}

export interface FrameRelations {
  readonly stageId: string | null
  readonly commandId: string | null
}

export const foldFrame = (
  state: FoldState,
  event: ReplayEvent,
  frameId: string,
  { stageId, commandId }: FrameRelations,
): void => {
  const { eventId, meta } = event
  const frame = state.frames.get(frameId) ?? createFrame(state, frameId)
  frame.last_event_id = eventId
  frame.stage_id = stageId ?? frame.stage_id
  frame.parent_frame_id = textAt(meta, 'parent_frame_id') ?? frame.parent_frame_id
  frame.command_id = commandId ?? frame.command_id
  switch (event.eventType) {
    case 'frame.dispatched':
      frame.status = 'CLAIMED'
      frame.claimed_event_id = eventId
      frame.attempts = largerInteger(frame.attempts, integerAt(meta, 'attempt') ?? 1)
      break
    case 'frame.started':
      frame.status = 'RUNNING'
      break
    case 'frame.abandoned':
      frame.status = event.status || 'ABANDONED'
      break
    case 'frame.committed':
      frame.status = event.status || 'COMPLETED'
      frame.row_count = integerAt(meta, 'row_count') ?? frame.row_count
      endFrame(frame, event, meta)
      break
    case 'frame.failed':
      frame.status = event.status || 'FAILED'
      endFrame(frame, event, meta)
      break
    default:
      frame.status = event.status || frame.status
  }
}

/** The output of an earlier end is gone when this one has none. */
const endFrame = (
  frame: FrameProjection,
  { eventId, reference }: ReplayEvent,
  meta: LosslessObject,
): void => {
  frame.events_emitted = integerAt(meta, 'events_emitted') ?? frame.events_emitted
  frame.terminal_event_id = eventId
  frame.output_ref = reference
  frame.output_ref_summary = true
}

const createFrame = (state: FoldState, frameId: string): FrameProjection => {
  const frame: FrameProjection = {
    frame_id: frameId,
    stage_id: null,
    parent_frame_id: null,
    command_id: null,
    claimed_event_id: null,
    terminal_event_id: null,
    status: UNKNOWN,
    row_count: 0,
    attempts: 0,
    last_event_id: null,
    events_emitted: 0,
    output_ref: null,
    output_ref_summary: false,
  }
  state.frames.set(frameId, frame)
  return frame
}
