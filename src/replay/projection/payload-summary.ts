/**
 * What is told of a payload without fetching it.
 *
 * 1. A reference that is no object has nothing to tell.
 * 2. Each fact is the first of its type among the reference, the meta of its rows and their Arrow form.
 */
import type { LosslessJson, LosslessObject } from '../canonical-json.ts'
import { isLosslessObject, parseLossless } from '../canonical-json.ts'
import type { Integer } from './replay-event.ts'
import { integerAt } from './replay-event.ts'

export interface PayloadSummary {
  readonly sha256: string | null
  readonly schema_digest: string | null
  readonly row_count: Integer | null
  readonly media_type: string | null
  readonly ref: string | null
}

const NOTHING: LosslessObject = {}
const EMPTY: PayloadSummary = {
  sha256: null,
  schema_digest: null,
  row_count: null,
  media_type: null,
  ref: null,
}

/** Of a reference in canonical JSON. */
export const summaryOf = (reference: string): PayloadSummary => {
  const value = parseLossless(reference)
  if (!isLosslessObject(value)) return EMPTY
  const rows = memberOf(value, 'rows_ref')
  const places = [value, memberOf(rows, 'meta'), memberOf(rows, 'ipc')]
  const firstText = (key: string): string | null => firstOf(places, (place) => stringOf(place[key]))
  return {
    sha256: firstText('sha256') ?? stringOf(value['digest']),
    schema_digest: firstText('schema_digest'),
    row_count: firstOf(places, (place) => integerAt(place, 'row_count')),
    media_type: firstText('media_type'),
    ref: stringOf(value['ref']) ?? stringOf(rows['ref']) ?? stringOf(value['uri']),
  }
}

const memberOf = (object: LosslessObject, key: string): LosslessObject => {
  const value = object[key]
  return isLosslessObject(value) ? value : NOTHING
}

const stringOf = (value: LosslessJson | undefined): string | null =>
  typeof value === 'string' ? value : null

const firstOf = <T>(
  places: readonly LosslessObject[],
  read: (place: LosslessObject) => T | null,
): T | null => {
  for (const place of places) {
    const found = read(place)
    if (found !== null) return found
  }
  return null
}
