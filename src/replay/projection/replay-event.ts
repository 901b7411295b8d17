/**
 * An event as replay reads it, whoever wrote it: our own log, or one that was imported with columns of its own.
 *
 * 1. Ids of stages, frames and commands are text; a number is its decimal text.
 * 2. `meta` has lost nothing (canonical-json.ts); a null in it is absence.
 * 3. `reference` is canonical JSON text: kept by the thousand, it has to be small and needs no second reading.
 * 4. Reports of our own workers have the reference inside, beside the data it stands for, and with a summary of that
 *    data, which is left out here. Of imported events only the outer reference counts.
 */
import type { EventRecord } from '../../contract/event.ts'
import type { LosslessJson, LosslessObject } from '../canonical-json.ts'
import { canonicalJson, isLosslessObject, isRawNumber, numberText, parseLossless } from '../canonical-json.ts'

export interface ReplayEvent {
  readonly eventId: string
  readonly eventType: string
  readonly nodeName: string | null
  readonly status: string | null
  readonly stageId: string | null
  readonly frameId: string | null
  readonly commandId: string | null
  readonly workerId: string | null
  readonly aggregateType: string | null
  readonly aggregateId: string | null
  readonly meta: LosslessObject
  /** `result.context.command_id`, where workers put it. */
  readonly contextCommandId: string | null
  /** `result.reference`, or that of a result inside; null when there is none. */
  readonly reference: string | null
}

/** A row of the log, its JSON as text. */
export interface ReplayRow {
  readonly eventId: string
  readonly eventType: string
  readonly nodeName: string | null
  readonly status: string | null
  readonly workerId: string | null
  readonly meta: string
  readonly contextCommandId: string | null
  readonly reference: string | null
  /** Columns that only imported events have. */
  readonly extra: string | null
  /** `result.context.result.reference`. */
  readonly innerReference?: string | null
}

const DEFAULT_SCOPE = 'default'

/** The tenant and the organisation that events belong to. */
export interface ReplayScope {
  readonly tenantId: string
  readonly organizationId: string
}

const NOTHING: LosslessObject = {}

const objectOf = (text: string | null): LosslessObject => {
  if (text === null || text === '{}') return NOTHING
  const value = parseLossless(text)
  return isLosslessObject(value) ? value : NOTHING
}

/** Null when the event belongs to somebody else. */
export const eventOfRow = (row: ReplayRow, { tenantId, organizationId }: ReplayScope): ReplayEvent | null => {
  const meta = objectOf(row.meta)
  const extra = objectOf(row.extra)
  const owner = (name: string): string => textAt(extra, name) ?? DEFAULT_SCOPE
  if (owner('tenant_id') !== tenantId || owner('organization_id') !== organizationId) return null
  return {
    eventId: row.eventId,
    eventType: row.eventType,
    nodeName: row.nodeName,
    status: row.status,
    stageId: textAt(extra, 'stage_id'),
    frameId: textAt(extra, 'frame_id'),
    commandId: textAt(extra, 'command_id'),
    workerId: row.workerId,
    aggregateType: textAt(extra, 'aggregate_type'),
    aggregateId: textAt(extra, 'aggregate_id'),
    meta,
    contextCommandId: row.contextCommandId,
    reference:
      row.reference === null
        ? innerReference(meta, parsed(row.innerReference))
        : canonicalReference(parseLossless(row.reference)),
  }
}

const parsed = (text: string | null | undefined): LosslessJson =>
  text === null || text === undefined ? null : parseLossless(text)

const innerReference = (meta: LosslessObject, reference: LosslessJson): string | null => {
  if (!isLosslessObject(reference) || meta['imported'] === true) return null
  const { extracted: _, ...place } = reference
  return canonicalReference(place)
}

/** An event of our own log. */
export const eventOfRecord = (record: EventRecord): ReplayEvent => ({
  eventId: record.eventId,
  eventType: record.eventType,
  nodeName: record.nodeName,
  status: record.status,
  stageId: null,
  frameId: null,
  commandId: null,
  workerId: record.workerId,
  aggregateType: null,
  aggregateId: null,
  meta: record.meta,
  contextCommandId: textAt(record.result?.context ?? NOTHING, 'command_id'),
  reference:
    canonicalReference(record.result?.reference ?? null) ??
    innerReference(record.meta, innerOf(record.result?.context?.['result'])),
})

const innerOf = (result: LosslessJson | undefined): LosslessJson =>
  result !== undefined && isLosslessObject(result) ? (result['reference'] ?? null) : null

const canonicalReference = (reference: LosslessJson): string | null =>
  reference === null ? null : canonicalJson(reference)

/** A member as text: numbers and booleans as JSON writes them, structures as canonical JSON; null is absence. */
export const textAt = (object: LosslessObject, key: string): string | null => {
  const value = object[key]
  if (value === undefined || value === null) return null
  if (typeof value === 'string') return value
  if (typeof value === 'number') return numberText(value)
  if (typeof value === 'boolean') return String(value)
  return isRawNumber(value) ? value.rawJSON : canonicalJson(value)
}

/** A 64-bit integer; as text when a double cannot hold it. */
export type Integer = number | string

const MIN = -(2n ** 63n)
const MAX = 2n ** 63n - 1n

/** A member that is an integer token of JSON; a text, a fraction or `3.0` is none. */
export const integerAt = (object: LosslessObject, key: string): Integer | null => {
  const value = object[key]
  if (typeof value === 'number') return Number.isSafeInteger(value) && !Object.is(value, -0) ? value : null
  if (value === undefined || value === null || !isRawNumber(value)) return null
  if (!/^-?\d{1,19}$/.test(value.rawJSON)) return null
  const exact = BigInt(value.rawJSON)
  return exact >= MIN && exact <= MAX ? value.rawJSON : null
}

export const largerInteger = (left: Integer, right: Integer): Integer => {
  if (typeof left === 'number' && typeof right === 'number') return Math.max(left, right)
  return BigInt(left) >= BigInt(right) ? left : right
}

/** The order of event ids: decimal texts without leading zeros, maybe negative. */
export const compareEventIds = (left: string, right: string): number => {
  if (left === right) return 0
  const leftNegative = left.charCodeAt(0) === 45
  const rightNegative = right.charCodeAt(0) === 45
  if (leftNegative !== rightNegative) return leftNegative ? -1 : 1
  const smaller = left.length === right.length ? left < right : left.length < right.length
  return smaller !== leftNegative ? -1 : 1
}
