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

const BUDGET = 4096
const TEXT_LIMIT = 512
const DEPTH_LIMIT = 8
/** What stands in for a value that was cut costs about this much. */
const LENGTH_COST = 16
const PREVIEW_LENGTH = 1000
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

/** The marker that takes the place of the data. Its own names win over fields of the data. */
export const markerOf = (data: Json, { ref, bytes, text, selected }: StoredPlace): JsonObject => {
  // `_type` tells what the data is as a whole; a field of that name has to be read from the data itself.
  const { _type: _, ...fields }: JsonObject = isObject(data)
    ? { ...(summarise(data) as JsonObject), ...pick(data, selected) }
    : {}
  const shown = redact(data)
  const preview = shown === data ? text : JSON.stringify(shown)
  return {
    ...fields,
    _ref: ref,
    _store: storeOf(bytes),
    _size_bytes: bytes,
    _preview: preview.slice(0, PREVIEW_LENGTH).toWellFormed(),
    ...(Array.isArray(data) ? { _type: 'list', _count: data.length } : {}),
  }
}

export const storeOf = (bytes: number): string => (bytes < DISK_BYTES ? 'kv' : 'disk')

/** Paths of `output_select`; the last segment is the name, unless the data has a field of that name itself. */
const pick = (data: JsonObject, paths: readonly string[]): JsonObject =>
  Object.fromEntries(
    paths.flatMap((path): [string, Json][] => {
      const segments = path
        .replaceAll(/\[(\d+)\]/g, '.$1')
        .split('.')
        .filter((segment) => segment !== '')
      const value = segments.reduce<Json | undefined>(member, data)
      const name = segments.findLast((segment) => !/^\d+$/.test(segment))
      if (value === undefined || name === undefined) return []
      if (segments.length > 1 && Object.hasOwn(data, name)) return []
      return [[name, JSON.stringify(value).length <= BUDGET ? value : summarise(value)]]
    }),
  )

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
