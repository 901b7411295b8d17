/**
 * A folded state as lines of text and back: what a replay snapshot stores. A fold that goes on from the lines ends
 * in the same state as one that never stopped.
 */
import type {
  BusinessObjectProjection,
  CommandProjection,
  FoldState,
  FrameProjection,
  LoopProjection,
  PayloadRef,
  StageProjection,
} from './fold-state.ts'
import { createFoldState } from './fold-state.ts'

/** Grows when the shape of the lines or the meaning of the fold changes; snapshots of another format are not used. */
export const REPLAY_FORMAT = 2

interface Header {
  readonly eventCount: number
  readonly lastEventId: string | null
  readonly lastEventType: string | null
  readonly status: string
  readonly lastNodeName: string | null
}

/** The first character of a line tells what stands in it. */
export function* snapshotLines(state: FoldState): Generator<string> {
  const { execution } = state
  const header: Header = {
    eventCount: state.eventCount,
    lastEventId: state.lastEventId,
    lastEventType: state.lastEventType,
    status: execution.status,
    lastNodeName: execution.last_node_name,
  }
  yield `h${JSON.stringify(header)}`
  for (const reference of execution.payload_refs) yield `p${JSON.stringify(reference)}`
  for (const stage of state.stages.values()) yield `s${JSON.stringify(stage)}`
  for (const frame of state.frames.values()) yield `f${JSON.stringify(frame)}`
  for (const command of state.commands.values()) yield `c${JSON.stringify(command)}`
  for (const object of state.businessObjects.values()) {
    const references = object.payload_refs.map(({ event_id }) => event_id)
    yield `b${JSON.stringify({ ...object, attributes: [...object.attributes], payload_refs: references })}`
  }
  for (const loop of state.loops.values()) yield `l${JSON.stringify({ ...loop, counted: [...loop.counted] })}`
  for (const run of state.runs) yield `r${JSON.stringify(run)}`
}

interface StoredBusinessObject extends Omit<BusinessObjectProjection, 'attributes' | 'payload_refs'> {
  readonly attributes: [string, string][]
  /** Of references that stand in a line of their own. */
  readonly payload_refs: readonly string[]
}

interface StoredLoop extends Omit<LoopProjection, 'counted'> {
  readonly counted: string[]
}

/** Throws when the lines are not those of a state. */
export const stateOfLines = (lines: Iterable<string>): FoldState => {
  const state = createFoldState()
  const references = new Map<string, PayloadRef>()
  const readers: Readonly<Record<string, (value: unknown) => void>> = {
    h: (value) => readHeader(state, value as Header),
    p: (value) => {
      const reference = value as PayloadRef
      state.execution.payload_refs.push(reference)
      references.set(reference.event_id, reference)
    },
    s: (value) => void state.stages.set((value as StageProjection).stage_id, value as StageProjection),
    f: (value) => void state.frames.set((value as FrameProjection).frame_id, value as FrameProjection),
    c: (value) =>
      void state.commands.set((value as CommandProjection).command_id, value as CommandProjection),
    b: (value) => {
      const { attributes, payload_refs, ...rest } = value as StoredBusinessObject
      const own = payload_refs.map((id) => references.get(id)).filter((found) => found !== undefined)
      state.businessObjects.set(rest.object_key, {
        ...rest,
        attributes: new Map(attributes),
        payload_refs: own,
      })
    },
    l: (value) => {
      const { counted, ...rest } = value as StoredLoop
      state.loops.set(rest.loop_id, { ...rest, counted: new Set(counted) })
    },
    r: (value) => void state.runs.set(...(value as [string, string])),
  }
  for (const line of lines) {
    const read = readers[line.charAt(0)]
    if (!read) throw new TypeError('not a line of a replay snapshot')
    read(JSON.parse(line.slice(1)))
  }
  return state
}

const readHeader = (state: FoldState, header: Header): void => {
  state.eventCount = header.eventCount
  state.lastEventId = header.lastEventId
  state.lastEventType = header.lastEventType
  state.execution.status = header.status
  state.execution.last_node_name = header.lastNodeName
}
