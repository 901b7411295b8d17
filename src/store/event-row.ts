/**
 * Events as rows, and back.
 *
 * 1. Sensitive values are replaced in the readable columns; the original is sealed beside them.
 * 2. Text that PostgreSQL cannot hold (NUL, lone surrogates) is replaced, too, and the whole event sealed.
 * 3. Read with the sealer an event equals the one that was written, so a fold of the log equals the live state.
 */
import type { EventRecord, EventResult } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { redact } from '../contract/sensitive.ts'
import { exactJson, isStorable, parseJson, storableJson } from '../lib/exact-json.ts'
import type { Sealer } from '../lib/sealer.ts'
import type { Column } from './columns.ts'
import { isPlainText, plainText } from './columns.ts'

/** An event in the form the append takes: every part that is not plain text as JSON text. */
export interface EventCells {
  readonly event: EventRecord
  readonly eventType: string
  readonly nodeName: string | null
  readonly nodeType: string | null
  readonly status: string | null
  readonly workerId: string | null
  readonly context: string | null
  readonly resultStatus: string | null
  readonly resultContext: string | null
  readonly resultReference: string | null
  readonly meta: string
  readonly error: string | null
  readonly sealed: Buffer | null
}

export const EVENT_CELLS: readonly Column<EventCells>[] = [
  { name: 'execution_id', type: 'bigint', of: ({ event }) => event.executionId },
  { name: 'position', type: 'int', of: ({ event }) => event.position },
  { name: 'event_id', type: 'bigint', of: ({ event }) => event.eventId },
  { name: 'created_at', type: 'timestamptz', of: ({ event }) => event.createdAt },
  { name: 'event_type', type: 'text', of: (cells) => cells.eventType },
  { name: 'node_name', type: 'text', of: (cells) => cells.nodeName },
  { name: 'node_type', type: 'text', of: (cells) => cells.nodeType },
  { name: 'status', type: 'text', of: (cells) => cells.status },
  { name: 'parent_event_id', type: 'bigint', of: ({ event }) => event.parentEventId },
  { name: 'worker_id', type: 'text', of: (cells) => cells.workerId },
  { name: 'duration_ms', type: 'float8', of: ({ event }) => event.durationMs },
  { name: 'context', type: 'json', of: (cells) => cells.context },
  { name: 'result_status', type: 'text', of: (cells) => cells.resultStatus },
  { name: 'result_context', type: 'json', of: (cells) => cells.resultContext },
  { name: 'result_reference', type: 'json', of: (cells) => cells.resultReference },
  { name: 'meta', type: 'json', of: (cells) => cells.meta },
  { name: 'error', type: 'text', of: (cells) => cells.error },
  { name: 'sealed', type: 'bytea', of: (cells) => cells.sealed },
  { name: 'id_from_sender', type: 'boolean', of: ({ event }) => event.idFromSender ?? false },
]

export const toEventCells = (event: EventRecord, sealer: Sealer): EventCells => {
  const cells = redactedCells(event, sealer)
  return isStorableAsItIs(cells)
    ? cells
    : { ...replacedCells(cells), sealed: sealParts(sealer, { event: event as unknown as Json }) }
}

const isStorableAsItIs = (cells: EventCells): boolean =>
  isPlainText(
    `${cells.eventType}${cells.nodeName}${cells.nodeType}${cells.status}${cells.workerId}${cells.resultStatus}${cells.error}`,
  ) &&
  isStorable(cells.meta) &&
  (cells.context === null || isStorable(cells.context)) &&
  (cells.resultContext === null || isStorable(cells.resultContext)) &&
  (cells.resultReference === null || isStorable(cells.resultReference))

/** The same without what PostgreSQL cannot hold. */
const replacedCells = (cells: EventCells): EventCells => ({
  ...cells,
  eventType: plainText(cells.eventType),
  nodeName: cells.nodeName === null ? null : plainText(cells.nodeName),
  nodeType: cells.nodeType === null ? null : plainText(cells.nodeType),
  status: cells.status === null ? null : plainText(cells.status),
  workerId: cells.workerId === null ? null : plainText(cells.workerId),
  context: replacedJson(cells.context),
  resultStatus: cells.resultStatus === null ? null : plainText(cells.resultStatus),
  resultContext: replacedJson(cells.resultContext),
  resultReference: replacedJson(cells.resultReference),
  meta: replacedJson(cells.meta) ?? '{}',
  error: cells.error === null ? null : plainText(cells.error),
})

const replacedJson = (text: string | null): string | null =>
  text === null || isStorable(text) ? text : storableJson(parseJson(text))

const sealParts = (sealer: Sealer, hidden: Hidden): Buffer => sealer.seal(JSON.stringify(hidden))

/** What lies in the sealed column: single parts, or the whole event. */
interface Hidden {
  context?: Json
  result?: Json
  reference?: Json
  meta?: Json
  error?: Json
  event?: Json
}

const redactedCells = (event: EventRecord, sealer: Sealer): EventCells => {
  const { context, result, meta } = event
  const cleanContext = redact(context)
  const cleanResult = result?.context ? redact(result.context) : null
  const cleanReference = result?.reference ? redact(result.reference) : null
  const cleanMeta = redact(meta)
  const cleanError = redact(event.error)
  const hidden: Hidden = {}
  if (cleanContext !== context) hidden.context = context
  if (result?.context && cleanResult !== result.context) hidden.result = result.context
  if (result?.reference && cleanReference !== result.reference) hidden.reference = result.reference
  if (cleanMeta !== meta) hidden.meta = meta
  if (cleanError !== event.error) hidden.error = event.error
  return {
    event,
    eventType: event.eventType,
    nodeName: event.nodeName,
    nodeType: event.nodeType,
    status: event.status,
    workerId: event.workerId,
    context: jsonOrNull(cleanContext),
    resultStatus: result?.status ?? null,
    resultContext: jsonOrNull(cleanResult),
    resultReference: jsonOrNull(cleanReference),
    meta: exactJson(cleanMeta),
    error: cleanError as string | null,
    sealed: Object.keys(hidden).length === 0 ? null : sealParts(sealer, hidden),
  }
}

const jsonOrNull = (value: Json): string | null => (value === null ? null : exactJson(value))

export interface EventRow {
  readonly execution_id: string
  readonly position: number
  readonly event_id: string
  readonly created_at: string
  readonly event_type: string
  readonly node_name: string | null
  readonly node_type: string | null
  readonly status: string | null
  readonly parent_event_id: string | null
  readonly worker_id: string | null
  readonly duration_ms: number | null
  readonly context: Json
  readonly result_status: string | null
  readonly result_context: JsonObject | null
  readonly result_reference: JsonObject | null
  readonly meta: JsonObject
  readonly error: string | null
  readonly sealed: Buffer | null
}

export const EVENT_COLUMNS =
  'execution_id, position, event_id, created_at, event_type, node_name, node_type, status, parent_event_id, worker_id, ' +
  'duration_ms, context, result_status, result_context, result_reference, meta, error, sealed'

/** With a sealer the event is as it was written; without one the redacted form is all there is. */
export const fromEventRow = (row: EventRow, sealer: Sealer | null): EventRecord => {
  const hidden: Hidden = row.sealed && sealer ? (JSON.parse(sealer.open(row.sealed)) as Hidden) : {}
  if (hidden.event !== undefined) return hidden.event as unknown as EventRecord
  return {
    executionId: row.execution_id,
    position: row.position,
    eventId: row.event_id,
    createdAt: row.created_at,
    eventType: row.event_type,
    nodeName: row.node_name,
    nodeType: row.node_type,
    status: row.status,
    parentEventId: row.parent_event_id,
    workerId: row.worker_id,
    durationMs: row.duration_ms,
    context: hidden.context ?? row.context,
    result: resultOf(row, hidden),
    meta: (hidden.meta as JsonObject | undefined) ?? row.meta,
    error: (hidden.error as string | undefined) ?? row.error,
  }
}

const resultOf = (row: EventRow, hidden: Hidden): EventResult | null => {
  if (row.result_status === null) return null
  const context = (hidden.result as JsonObject | undefined) ?? row.result_context
  const reference = (hidden.reference as JsonObject | undefined) ?? row.result_reference
  return { status: row.result_status, ...(context ? { context } : {}), ...(reference ? { reference } : {}) }
}
