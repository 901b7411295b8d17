/**
 * Looks behind the references of a replayed state: is the data still there, and what is it? The data itself is not
 * shown, and what is told of it is told of its redacted form.
 *
 * 1. A place that several references name is looked at once.
 * 2. What cannot be read is told as such, with the reason; it fails nothing.
 */
import { createHash } from 'node:crypto'
import { parseReference } from '../../contract/api-results.ts'
import type { Json } from '../../contract/json.ts'
import { redact } from '../../contract/sensitive.ts'
import type { Sealer } from '../../lib/sealer.ts'
import type { LosslessJson, LosslessObject } from '../../replay/canonical-json.ts'
import { canonicalJson, isLosslessObject, isRawNumber, parseLossless } from '../../replay/canonical-json.ts'
import { summaryText } from '../../replay/projection/fields.ts'
import type { ReplayView } from '../../replay/projection/view.ts'
import type { StoredResult } from '../../store/results.ts'
import { findResultByUri, findResultOfStep, readResult } from '../../store/results.ts'
import type { Shards } from '../../store/shards.ts'

/** More places than this are not looked at. */
const MAX_PLACES = 1000

export interface PayloadSource {
  readonly shards: Shards
  readonly sealer: Sealer
}

interface Resolution extends LosslessObject {
  readonly ref: string | null
  readonly resolved: boolean
  readonly checksum: string | null
  readonly size_bytes: number | null
  readonly row_count: number | null
  readonly value_type: string | null
  readonly error: string | null
}

/** Members of the answer, as JSON text. */
export const resolvePayloads = async (view: ReplayView, source: PayloadSource): Promise<string> => {
  const seen = new Map<string, Resolution>()
  const rows: string[] = []
  let resolved = 0
  for (const found of referencesOf(view)) {
    const locator = locatorOf(parseLossless(found.reference))
    const resolution = locator === null ? NO_LOCATOR : await lookOnce(locator, seen, source)
    if (resolution.resolved) resolved += 1
    rows.push(rowText(found, resolution))
  }
  const counts = {
    all_resolved: resolved === rows.length,
    resolved,
    total: rows.length,
    unresolved: rows.length - resolved,
  }
  const list = `[${rows.join(',')}]`
  const covered = { ...counts, rows: parseLossless(list), unique_refs: [...seen.keys()].toSorted() }
  const checksum = createHash('sha256').update(canonicalJson(covered)).digest('hex')
  const summary = canonicalJson({ ...counts, checksum, unique_refs: seen.size })
  return `"payload_resolution":${list},"payload_resolution_summary":${summary}`
}

const rowText = ({ place, eventId, reference }: FoundReference, resolution: Resolution): string => {
  const members = [
    place,
    ...(eventId === null ? [] : [`"event_id":${eventId}`]),
    `"reference_summary":${summaryText(reference, 'sorted')}`,
    `"resolution":${canonicalJson(resolution)}`,
  ]
  return `{${members.join(',')}}`
}

interface FoundReference {
  /** Where it stands, as members in JSON text. */
  readonly place: string
  readonly eventId: string | null
  readonly reference: string
}

function* referencesOf({ state, shows }: ReplayView): Generator<FoundReference> {
  if (shows('execution'))
    for (const { event_id, reference } of state.execution.payload_refs)
      yield { place: '"scope":"execution"', eventId: event_id, reference }
  if (shows('frame'))
    for (const [id, frame] of state.frames)
      if (frame.output_ref !== null)
        yield {
          place: `"frame_id":${JSON.stringify(id)},"scope":"frame"`,
          eventId: frame.terminal_event_id,
          reference: frame.output_ref,
        }
  if (shows('business_object'))
    for (const [key, object] of state.businessObjects)
      for (const { event_id, reference } of object.payload_refs)
        yield {
          place: `"object_key":${JSON.stringify(key)},"scope":"business_object"`,
          eventId: event_id,
          reference,
        }
}

/** Where the data lies, by the first name that the reference has for it. */
const locatorOf = (reference: LosslessJson): string | null => {
  if (typeof reference === 'string') return reference
  if (!isLosslessObject(reference)) return null
  if (reference['kind'] === 'payload_store') return firstText(reference, ['uri', 'sha256'])
  const rows = reference['rows_ref']
  return (
    firstText(reference, ['ref', 'uri', 'locator']) ??
    (isLosslessObject(rows) ? firstText(rows, ['ref', 'uri', 'locator']) : null)
  )
}

const firstText = (object: LosslessObject, keys: readonly string[]): string | null => {
  for (const key of keys) {
    const value = object[key]
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}

const unresolved = (ref: string | null, error: string): Resolution => ({
  ref,
  resolved: false,
  checksum: null,
  size_bytes: null,
  row_count: null,
  value_type: null,
  error,
})

const NO_LOCATOR = unresolved(null, 'payload reference has no resolvable locator')

const lookOnce = async (
  locator: string,
  seen: Map<string, Resolution>,
  source: PayloadSource,
): Promise<Resolution> => {
  const former = seen.get(locator)
  if (former) return former
  if (seen.size >= MAX_PLACES)
    return unresolved(locator, `not looked at: only the first ${MAX_PLACES} places of a replay are`)
  const resolution = await look(locator, source)
  seen.set(locator, resolution)
  return resolution
}

const look = async (locator: string, { shards, sealer }: PayloadSource): Promise<Resolution> => {
  const stored = await find(locator, shards)
  if (typeof stored === 'string') return unresolved(locator, stored)
  const value = redact(parseLossless(sealer.open(stored.data)) as Json) as LosslessJson
  const text = canonicalJson(value)
  return {
    ref: locator,
    resolved: true,
    checksum: createHash('sha256').update(text).digest('hex'),
    size_bytes: Buffer.byteLength(text),
    row_count: rowCountOf(value),
    value_type: typeOf(value),
    error: null,
  }
}

/** The stored result, or why there is none. */
const find = async (locator: string, shards: Shards): Promise<StoredResult | string> => {
  const reference = parseReference(locator)
  if (!reference) return 'not a reference to a stored result'
  const database = shards.of(reference.executionId)
  if (reference.kind === 'stored') return (await readResult(database, reference)) ?? 'result not found'
  const exact = await findResultByUri(database, reference.executionId, reference.uri)
  if (exact) return exact
  const ofStep = await findResultOfStep(database, reference.executionId, reference.step)
  if (!ofStep) return 'result not found'
  return ofStep.alone ? ofStep.newest : `step '${reference.step}' has several results`
}

const rowCountOf = (value: LosslessJson): number | null => {
  if (Array.isArray(value)) return value.length
  const rows = isLosslessObject(value) ? value['rows'] : null
  return Array.isArray(rows) ? rows.length : null
}

const typeOf = (value: LosslessJson): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return isRawNumber(value) ? 'number' : typeof value
}
