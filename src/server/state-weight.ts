/**
 * What the state of an execution weighs in memory, about, in bytes.
 *
 * 1. A commit adds what its events leave in the state; nobody looks at the state for that.
 * 2. The state itself is looked at when it is loaded, and when as much was added as it weighed then: so what was
 *    replaced or let go since is noticed, and what looking costs is a fraction of what the events cost.
 */
import type { EventRecord } from '../contract/event.ts'
import { EVENT } from '../contract/event.ts'
import type { LoopState, State, StepState } from '../engine/state.ts'
import { heapSizeAbout } from '../lib/heap-size.ts'

/** A mailbox and an empty state. */
const EXECUTION_BYTES = 4000
const STEP_BYTES = 300
const COMMAND_BYTES = 400
const SMALL_BYTES = 100
/** Less than this is not worth a look. */
const SLACK = 16_000

export interface StateWeight {
  readonly bytes: number
  /** When the state itself was looked at last. */
  readonly looked: number
}

export const NEW_EXECUTION: StateWeight = { bytes: EXECUTION_BYTES, looked: EXECUTION_BYTES }

export const weightOf = (state: State): StateWeight => {
  const bytes = stateBytes(state)
  return { bytes, looked: bytes }
}

/** After a commit. */
export const weightAfter = (
  { bytes, looked }: StateWeight,
  state: State,
  events: readonly EventRecord[],
): StateWeight => {
  let grown = bytes
  for (const event of events) grown += keptBytes(event)
  return grown > 2 * looked + SLACK ? weightOf(state) : { bytes: grown, looked }
}

/** What the fold keeps of an event. */
const keptBytes = ({ eventType, context, result }: EventRecord): number => {
  switch (eventType) {
    case EVENT.commandIssued:
      return COMMAND_BYTES
    case EVENT.started:
      return heapSizeAbout(context)
    case EVENT.commandClaimed:
    case EVENT.commandStarted:
    case EVENT.commandReleased:
    case EVENT.stepExit:
      return 0
    case EVENT.stepEnter:
      return STEP_BYTES + loopBytes(result?.context?.['items'])
    default:
      return heapSizeAbout(result?.context)
  }
}

/** The items, and room for a result each. */
const loopBytes = (items: unknown): number =>
  Array.isArray(items) ? heapSizeAbout(items) + 8 * items.length : 0

const stateBytes = (state: State): number => {
  let bytes = EXECUTION_BYTES + heapSizeAbout(state.workload) + heapSizeAbout(state.vars)
  bytes += state.commands.size * COMMAND_BYTES
  bytes += (state.failures.length + state.tokens.length + state.dropped.length) * SMALL_BYTES
  bytes += (state.cut?.iterations.length ?? 0) * SMALL_BYTES
  for (const step of state.steps.values()) bytes += stepBytes(step)
  return bytes
}

const stepBytes = ({ data, loop, stopped, cursor }: StepState): number =>
  STEP_BYTES + heapSizeAbout(data) + loopStateBytes(loop ?? stopped) + heapSizeAbout(cursor?.rows)

const loopStateBytes = (loop: LoopState | null): number =>
  loop ? heapSizeAbout(loop.items) + heapSizeAbout(loop.results) : 0
