/**
 * What is kept of a result that is stored apart: the reference, its size, a preview, and its small fields, so that most
 * of what people look at needs no fetching.
 */
import type { Json, JsonObject } from './json.ts'
import { isObject } from './json.ts'

const BUDGET = 4096
const TEXT_LIMIT = 512
const DEPTH_LIMIT = 8
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
  const fields = isObject(data) ? { ...(summarise(data) as JsonObject), ...pick(data, selected) } : {}
  return {
    ...fields,
    _ref: ref,
    _store: storeOf(bytes),
    _size_bytes: bytes,
    _preview: text.slice(0, PREVIEW_LENGTH),
    ...(Array.isArray(data) ? { _type: 'list', _count: data.length } : {}),
  }
}

export const storeOf = (bytes: number): string => (bytes < DISK_BYTES ? 'kv' : 'disk')

/** Paths of `output_select`; the last segment is the name, long texts are cut. */
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
      return [[name, typeof value === 'string' ? value.slice(0, 500) : value]]
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
      if (value.length > TEXT_LIMIT) return { _len: value.length }
      left -= value.length
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
    if (depth >= DEPTH_LIMIT) return { _count: keys.length, _keys: keys.slice(0, 20) }
    const copy: Record<string, Json> = {}
    for (const key of keys) {
      if (left <= 0) return { ...copy, _truncated: true }
      left -= key.length
      copy[key] = visit(value[key] ?? null, depth + 1)
    }
    return copy
  }
  return visit(data, 0)
}
