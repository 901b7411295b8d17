/**
 * What a fold of the log has gathered. Records have the names they have on the wire, and every field from the
 * beginning, null while it is not known: a fold of a million events writes into them and makes few others.
 */
import type { Integer } from './replay-event.ts'

export interface PayloadRef {
  readonly event_id: string
  /** Canonical JSON. What is summarised of it is read from it when it is shown. */
  readonly reference: string
}

export interface ExecutionProjection {
  status: string
  last_node_name: string | null
  readonly payload_refs: PayloadRef[]
}

export interface StageProjection {
  readonly stage_id: string
  status: string
  readonly kind: string | null
  readonly step_name: string | null
  parent_stage_id: string | null
  loop_event_id: string | null
  opened_event_id: string | null
  closed_event_id: string | null
  frame_count: Integer
  row_count: Integer
  events_emitted: Integer
  failed_count: Integer
  last_event_id: string | null
}

export interface FrameProjection {
  readonly frame_id: string
  stage_id: string | null
  parent_frame_id: string | null
  command_id: string | null
  claimed_event_id: string | null
  terminal_event_id: string | null
  status: string
  row_count: Integer
  attempts: Integer
  last_event_id: string | null
  events_emitted: Integer
  output_ref: string | null
  /** True once the frame has ended; the summary itself is read from the reference. */
  output_ref_summary: boolean
}

export interface CommandProjection {
  readonly command_id: string
  stage_id: string | null
  frame_id: string | null
  parent_command_id: string | null
  worker_id: string | null
  worker_locator: string | null
  status: string
  issued_event_id: string | null
  claimed_event_id: string | null
  started_event_id: string | null
  terminal_event_id: string | null
  last_event_id: string | null
  /** The loop of our own that issued it; not shown. */
  loop: string | null
}

export interface BusinessObjectProjection {
  readonly object_key: string
  readonly object_type: string
  readonly object_id: string
  status: string
  version: Integer
  event_count: number
  readonly first_event_id: string
  last_event_id: string | null
  deleted_event_id: string | null
  last_event_type: string | null
  /** Values as canonical JSON. */
  attributes: Map<string, string>
  /** The newest of them is also shown as `last_payload_ref`. */
  readonly payload_refs: PayloadRef[]
}

export interface LoopProjection {
  readonly loop_id: string
  readonly step_name: string | null
  readonly total: Integer | null
  done: number
  failed: number
  completed: boolean
  last_event_id: string | null
  /** Commands that were counted; not shown. */
  readonly counted: Set<string>
}

export interface FoldState {
  eventCount: number
  lastEventId: string | null
  lastEventType: string | null
  readonly execution: ExecutionProjection
  readonly stages: Map<string, StageProjection>
  readonly frames: Map<string, FrameProjection>
  readonly commands: Map<string, CommandProjection>
  readonly businessObjects: Map<string, BusinessObjectProjection>
  readonly loops: Map<string, LoopProjection>
  /** The event that began the latest run of each step of our own; not shown. */
  readonly runs: Map<string, string>
}

export const UNKNOWN = 'UNKNOWN'

export const createFoldState = (): FoldState => ({
  eventCount: 0,
  lastEventId: null,
  lastEventType: null,
  execution: { status: UNKNOWN, last_node_name: null, payload_refs: [] },
  stages: new Map(),
  frames: new Map(),
  commands: new Map(),
  businessObjects: new Map(),
  loops: new Map(),
  runs: new Map(),
})
