/**
 * What is kept of a result that is stored apart: the reference, its size, a preview, and its small fields, so that most
 * of what people look at needs no fetching.
 *
 * 1. A scalar in the summary is the data's own, whole; whatever is cut is a structure that says so.
 * 2. The summary stays small whatever the data is.
 * 3. The preview is text, in which no key tells secrets apart: it is made of the data without them.
 */
import type { Json, JsonObject } from './json.ts'
import { isObject } from './json.ts'
import { redact } from './sensitive.ts'

/** Characters of a summary, about. */
export const BUDGET = 4096
const TEXT_LIMIT = 512
/** Below this many levels a summary only counts. */
export const DEPTH_LIMIT = 8
/** What stands in for a value that was cut costs about this much. */
const LENGTH_COST = 16
/** From this size on a result counts as a file rather than a value. */
const DISK_BYTES = 1024 * 1024

export interface StoredPlace {
  readonly ref: string
  readonly bytes: number
  /** The JSON text of the data. */
  readonly text: string
  /** Top-level fields that stay readable whatever their size. */
  readonly selected: readonly string[]
}

/** What is known of data without looking at it again. */
export interface Outline {
  /** The data within a budget. */
  readonly summary: Json
  /** The small fields of a mapping, and what was selected; none for other data. */
  readonly fields: JsonObject
  readonly preview: string
  /** How many elements a list has; null for other data. */
  readonly count: number | null
}

/** The marker that takes the place of the data. Its own names win over fields of the data. */
export const markerOf = (data: Json, { text, selected, ...place }: StoredPlace): JsonObject =>
  markerFrom(outlineOf(data, text, selected), place)

export const markerFrom = (
  { fields, preview, count }: Outline,
  { ref, bytes }: Pick<StoredPlace, 'ref' | 'bytes'>,
): JsonObject => ({
  ...fields,
  _ref: ref,
  _store: storeOf(bytes),
  _size_bytes: bytes,
  _preview: preview,
  ...(count === null ? {} : { _type: 'list', _count: count }),
})

export const outlineOf = (data: Json, text: string, selected: readonly string[]): Outline => {
  const shown = redact(data)
  const lookup: Lookup = {
    has: (name) => isObject(data) && Object.hasOwn(data, name),
    at: (segments) => {
      const value = reach(data, segments)
      return value === undefined ? undefined : { value, isCut: false }
    },
  }
  return {
    summary: summarise(data),
    fields: fieldsOf(data, selected, lookup),
    preview: previewOf(shown === data ? text : JSON.stringify(shown)),
    count: Array.isArray(data) ? data.length : null,
  }
}

export const PREVIEW_LENGTH = 1000

export const previewOf = (text: string): string => text.slice(0, PREVIEW_LENGTH).toWellFormed()

/** How the places of the data are reached that are not in its summary. */
export interface Lookup {
  has(topLevelName: string): boolean
  /** Undefined when there is nothing. What is cut is too large to be kept as it is. */
  at(segments: readonly string[]): { readonly value: Json; readonly isCut: boolean } | undefined
}

export const fieldsOf = (data: Json, selected: readonly string[], lookup: Lookup): JsonObject => {
  if (!isObject(data)) return {}
  // `_type` tells what the data is as a whole; a field of that name has to be read from the data itself.
  const { _type: _, ...fields }: JsonObject = {
    ...(summarise(data) as JsonObject),
    ...pick(selected, lookup),
  }
  return fields
}

export const storeOf = (bytes: number): string => (bytes < DISK_BYTES ? 'kv' : 'disk')

/** Paths of `output_select`; the last segment is the name, unless the data has a field of that name itself. */
const pick = (paths: readonly string[], { has, at }: Lookup): JsonObject =>
  Object.fromEntries(
    paths.flatMap((path): [string, Json][] => {
      const segments = segmentsOf(path)
      const found = at(segments)
      const name = segments.findLast((segment) => !/^\d+$/.test(segment))
      if (found === undefined || name === undefined) return []
      if (segments.length > 1 && has(name)) return []
      const { value, isCut } = found
      return [[name, isCut || JSON.stringify(value).length > BUDGET ? summarise(value) : value]]
    }),
  )

/** `rows[0].id` is `rows`, `0`, `id`. */
export const segmentsOf = (path: string): readonly string[] =>
  path
    .replaceAll(/\[(\d+)\]/g, '.$1')
    .split('.')
    .filter((segment) => segment !== '')

export const reach = (data: Json | undefined, segments: readonly string[]): Json | undefined =>
  segments.reduce<Json | undefined>(member, data)

const member = (value: Json | undefined, key: string): Json | undefined => {
  if (Array.isArray(value)) return value[Number(key)]
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** The same shape within a budget: scalars stay, long texts become their length, lists their first element. */
export const summarise = (data: Json): Json => {
  let left = BUDGET
  const visit = (value: Json, depth: number): Json => {
    if (typeof value === 'string') {
      left -= Math.min(value.length, LENGTH_COST)
      if (value.length > TEXT_LIMIT) return { _len: value.length }
      left -= Math.max(0, value.length - LENGTH_COST)
      return value
    }
    left -= 8
    if (Array.isArray(value)) {
      const first = value[0] as Json | undefined
      return first === undefined || depth >= DEPTH_LIMIT
        ? { _count: value.length }
        : [visit(first, depth + 1)]
    }
    if (!isObject(value)) return value
    const keys = Object.keys(value)
    if (depth >= DEPTH_LIMIT)
      return { _count: keys.length, _keys: keys.slice(0, 20).filter((key) => key.length <= TEXT_LIMIT) }
    const kept: [string, Json][] = []
    for (const key of keys) {
      left -= key.length
      if (left <= 0) return { ...Object.fromEntries(kept), _truncated: true }
      kept.push([key, visit(value[key] ?? null, depth + 1)])
    }
    return Object.fromEntries(kept)
  }
  return visit(data, 0)
}
