/**
 * A folded state as it is answered: one projection of it or all.
 *
 * 1. What was not asked for is there and empty, so that readers find the same keys in every answer. The status and
 *    the last step of the execution are always told.
 * 2. Text comes in pieces: a state may be larger than what should be held as one text.
 */
import { sortedKeys } from '../canonical-json.ts'
import type { FieldOrder, Fields } from './fields.ts'
import { BUSINESS_OBJECT, COMMAND, FRAME, LOOP, payloadRefText, recordText, STAGE } from './fields.ts'
import type { FoldState } from './fold-state.ts'

/** In the order of their names. */
export const PARTS = ['business_object', 'command', 'execution', 'frame', 'loop', 'stage'] as const
export type Part = (typeof PARTS)[number]

/** In the order in which errors list them. */
export const PROJECTIONS = [
  'execution',
  'stage',
  'frame',
  'command',
  'business_object',
  'loop',
  'all',
] as const
export type Projection = (typeof PROJECTIONS)[number]

export interface ReplayHead {
  readonly tenantId: string
  readonly organizationId: string
  readonly executionId: string
  readonly projection: Projection
  /** The status that is known better than by the fold; null for what the fold says. */
  readonly status: string | null
}

export interface ReplayView {
  readonly head: ReplayHead
  readonly state: FoldState
  shows(part: Part): boolean
  /** The JSON text of a part, in pieces. */
  partText(part: Part, order: FieldOrder): Iterable<string>
}

const PIECE = 64 * 1024

export const createReplayView = (state: FoldState, head: ReplayHead): ReplayView => {
  const keys = new Map<Part, readonly string[]>()
  const shows = (part: Part): boolean => head.projection === 'all' || head.projection === part

  /** Sorting is done once, although the text is made several times. */
  const keysOf = (part: Part, map: ReadonlyMap<string, unknown>): readonly string[] => {
    let sorted = keys.get(part)
    if (!sorted) keys.set(part, (sorted = sortedKeys([...map.keys()])))
    return sorted
  }

  const mapText = <Row>(
    part: Part,
    map: ReadonlyMap<string, Row>,
    fields: Fields<Row>,
    order: FieldOrder,
  ): Iterable<string> => (shows(part) ? mapPieces(map, keysOf(part, map), fields, order) : ['{}'])

  const texts: Readonly<Record<Part, (order: FieldOrder) => Iterable<string>>> = {
    stage: (order) => mapText('stage', state.stages, STAGE, order),
    frame: (order) => mapText('frame', state.frames, FRAME, order),
    command: (order) => mapText('command', state.commands, COMMAND, order),
    business_object: (order) => mapText('business_object', state.businessObjects, BUSINESS_OBJECT, order),
    loop: (order) => mapText('loop', state.loops, LOOP, order),
    execution: (order) => executionPieces(state, head, shows('execution'), order),
  }

  return { head, state, shows, partText: (part, order) => texts[part](order) }
}

function* mapPieces<Row>(
  map: ReadonlyMap<string, Row>,
  keys: readonly string[],
  fields: Fields<Row>,
  order: FieldOrder,
): Generator<string> {
  let text = '{'
  let separator = ''
  for (const key of keys) {
    text += `${separator}${JSON.stringify(key)}:${recordText(map.get(key) as Row, fields, order)}`
    separator = ','
    if (text.length >= PIECE) {
      yield text
      text = ''
    }
  }
  yield `${text}}`
}

function* executionPieces(
  { execution }: FoldState,
  { status }: ReplayHead,
  withReferences: boolean,
  order: FieldOrder,
): Generator<string> {
  const statusText = `"status":${JSON.stringify(status ?? execution.status)}`
  const node =
    execution.last_node_name === null ? '' : `"last_node_name":${JSON.stringify(execution.last_node_name)},`
  let text = order === 'declared' ? `{${statusText},${node}"payload_refs":[` : `{${node}"payload_refs":[`
  let separator = ''
  for (const reference of withReferences ? execution.payload_refs : []) {
    text += separator + payloadRefText(reference, order)
    separator = ','
    if (text.length >= PIECE) {
      yield text
      text = ''
    }
  }
  yield order === 'declared' ? `${text}]}` : `${text}],${statusText}}`
}
