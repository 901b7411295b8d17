/**
 * Records as JSON text, in one of two orders of fields: the declared one, for people, and the sorted one, for
 * checksums. A field that is not known is left out, never null.
 */
import { canonicalJson, sortedKeys } from '../canonical-json.ts'
import type { BusinessObjectProjection, FrameProjection, PayloadRef } from './fold-state.ts'
import type { PayloadSummary } from './payload-summary.ts'
import { summaryOf } from './payload-summary.ts'

/** Makes the JSON text of a field; null leaves it out. */
type FieldText<Row> = (record: Row) => string | null

export interface Fields<Row> {
  readonly declared: readonly (readonly [prefix: string, text: FieldText<Row>])[]
  readonly sorted: readonly (readonly [prefix: string, text: FieldText<Row>])[]
}

export type FieldOrder = 'declared' | 'sorted'

type Kind = 'text' | 'integer' | 'flag'

const SCALARS: Readonly<Record<Kind, (value: unknown) => string>> = {
  text: (value) => JSON.stringify(value),
  // An integer beyond a double is text already.
  integer: String,
  flag: String,
}

const fieldsOf = <Row>(table: Readonly<Record<string, Kind | FieldText<Row>>>): Fields<Row> => {
  const text = (name: string, kind: Kind | FieldText<Row>): FieldText<Row> => {
    if (typeof kind === 'function') return kind
    const write = SCALARS[kind]
    return (record) => {
      const value = (record as Readonly<Record<string, unknown>>)[name]
      return value === null ? null : write(value)
    }
  }
  const entry = (name: string) => [`"${name}":`, text(name, table[name] as Kind | FieldText<Row>)] as const
  const names = Object.keys(table)
  return { declared: names.map(entry), sorted: names.toSorted().map(entry) }
}

export const recordText = <Row>(record: Row, fields: Fields<Row>, order: FieldOrder): string => {
  let text = '{'
  for (const [prefix, valueOf] of fields[order]) {
    const value = valueOf(record)
    if (value !== null) text += text.length > 1 ? `,${prefix}${value}` : prefix + value
  }
  return `${text}}`
}

const SUMMARY: Fields<PayloadSummary> = fieldsOf({
  sha256: 'text',
  schema_digest: 'text',
  row_count: 'integer',
  media_type: 'text',
  ref: 'text',
})

export const summaryText = (reference: string | null, order: FieldOrder): string =>
  reference === null ? '{}' : recordText(summaryOf(reference), SUMMARY, order)

/** Its own fields stand in the order of the alphabet in both orders. */
export const payloadRefText = ({ event_id, reference }: PayloadRef, order: FieldOrder): string =>
  `{"event_id":${event_id},"reference":${reference},"summary":${summaryText(reference, order)}}`

export const STAGE = fieldsOf({
  stage_id: 'text',
  status: 'text',
  kind: 'text',
  step_name: 'text',
  parent_stage_id: 'text',
  loop_event_id: 'text',
  opened_event_id: 'integer',
  closed_event_id: 'integer',
  frame_count: 'integer',
  row_count: 'integer',
  events_emitted: 'integer',
  failed_count: 'integer',
  last_event_id: 'integer',
})

const frameFields = (order: FieldOrder): Fields<FrameProjection> =>
  fieldsOf({
    frame_id: 'text',
    stage_id: 'text',
    parent_frame_id: 'text',
    command_id: 'text',
    claimed_event_id: 'integer',
    terminal_event_id: 'integer',
    status: 'text',
    row_count: 'integer',
    attempts: 'integer',
    last_event_id: 'integer',
    events_emitted: 'integer',
    output_ref: ({ output_ref }) => output_ref,
    output_ref_summary: (frame) => (frame.output_ref_summary ? summaryText(frame.output_ref, order) : null),
  })

/** Where a field has fields of its own, its text depends on the order as well. */
const inBothOrders = <Row>(make: (order: FieldOrder) => Fields<Row>): Fields<Row> => ({
  declared: make('declared').declared,
  sorted: make('sorted').sorted,
})

export const FRAME = inBothOrders(frameFields)

export const COMMAND = fieldsOf({
  command_id: 'text',
  stage_id: 'text',
  frame_id: 'text',
  parent_command_id: 'text',
  worker_id: 'text',
  worker_locator: 'text',
  status: 'text',
  issued_event_id: 'integer',
  claimed_event_id: 'integer',
  started_event_id: 'integer',
  terminal_event_id: 'integer',
  last_event_id: 'integer',
})

const attributesText = (attributes: ReadonlyMap<string, string>): string =>
  `{${sortedKeys([...attributes.keys()])
    .map((name) => `${canonicalJson(name)}:${attributes.get(name)}`)
    .join(',')}}`

const businessObjectFields = (order: FieldOrder): Fields<BusinessObjectProjection> =>
  fieldsOf({
    object_key: 'text',
    object_type: 'text',
    object_id: 'text',
    status: 'text',
    version: 'integer',
    event_count: 'integer',
    first_event_id: 'integer',
    last_event_id: 'integer',
    deleted_event_id: 'integer',
    last_event_type: 'text',
    attributes: ({ attributes }) => attributesText(attributes),
    payload_refs: ({ payload_refs }) =>
      `[${payload_refs.map((ref) => payloadRefText(ref, order)).join(',')}]`,
    last_payload_ref: ({ payload_refs }) => {
      const last = payload_refs.at(-1)
      return last ? payloadRefText(last, order) : null
    },
  })

export const BUSINESS_OBJECT = inBothOrders(businessObjectFields)

export const LOOP = fieldsOf({
  loop_id: 'text',
  step_name: 'text',
  total: 'integer',
  done: 'integer',
  failed: 'integer',
  completed: 'flag',
  last_event_id: 'integer',
})
