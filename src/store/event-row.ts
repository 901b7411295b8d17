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
import { exactJson, isStorable, storableJson } from '../lib/exact-json.ts'
import type { Sealer } from '../lib/sealer.ts'

/** Keys are short because thousands of these travel in one parameter. */
interface EventParameter {
  i: string
  p: number
  e: string
  at: string
  t: string
  n: string | undefined
  k: string | undefined
  s: string | undefined
  pe: string | undefined
  w: string | undefined
  d: number | undefined
  c: Json | undefined
  rs: string | undefined
  rc: Json | undefined
  rr: Json | undefined
  m: Json
  er: string | undefined
  x: string | undefined
  g: true | undefined
}

/** The event as an element of the append's parameter. */
export const eventJson = (event: EventRecord, sealer: Sealer): string => {
  const parameter = toParameter(event, sealer)
  const text = exactJson(parameter)
  if (isStorable(text)) return text
  return storableJson({ ...parameter, x: sealText(sealer, { event: event as unknown as Json }) })
}

const sealText = (sealer: Sealer, hidden: Hidden): string =>
  sealer.seal(JSON.stringify(hidden)).toString('base64')

/** What lies in the sealed column: single parts, or the whole event. */
interface Hidden {
  context?: Json
  result?: Json
  reference?: Json
  meta?: Json
  error?: Json
  event?: Json
}

const toParameter = (event: EventRecord, sealer: Sealer): EventParameter => {
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
  const sealed = Object.keys(hidden).length === 0 ? null : sealText(sealer, hidden)
  // Absent keys are nulls to the statement, and thousands of them need not travel.
  return {
    i: event.executionId,
    p: event.position,
    e: event.eventId,
    at: event.createdAt,
    t: event.eventType,
    n: event.nodeName ?? undefined,
    k: event.nodeType ?? undefined,
    s: event.status ?? undefined,
    pe: event.parentEventId ?? undefined,
    w: event.workerId ?? undefined,
    d: event.durationMs ?? undefined,
    c: cleanContext ?? undefined,
    rs: result?.status,
    rc: cleanResult ?? undefined,
    rr: cleanReference ?? undefined,
    m: cleanMeta,
    er: (cleanError as string | null) ?? undefined,
    x: sealed ?? undefined,
    g: event.idFromSender,
  }
}

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
