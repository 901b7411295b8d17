/** Filters on mappings, and those that reach into any container. */
import { optional, requiring, type Callable } from '../callable.ts'
import { compareValues } from '../compare.ts'
import { fault } from '../errors.ts'
import type { Frame } from '../frame.ts'
import { charge } from '../limits.ts'
import { asMapping, isAbsent, isTrue, item, kindOf, member, type Mapping, type Value } from '../values.ts'

const needMapping = (frame: Frame, value: Value, what: string): Mapping => {
  const mapping = asMapping(value)
  if (mapping === undefined) return fault(`${what} needs a mapping, found ${kindOf(value)}`)
  charge(frame, Object.keys(mapping).length / 8)
  return mapping
}

export const keysOf = (frame: Frame, value: Value): Value => Object.keys(needMapping(frame, value, 'keys'))

export const valuesOf = (frame: Frame, value: Value): Value => {
  const mapping = needMapping(frame, value, 'values')
  return Object.keys(mapping).map((key) => mapping[key])
}

export const itemsOf = (frame: Frame, value: Value): Value => {
  const mapping = needMapping(frame, value, 'items')
  return Object.keys(mapping).map((key) => [key, mapping[key]])
}

export const getOr = (_frame: Frame, value: Value, key: Value, fallback: Value): Value => {
  const found = item(value, key)
  return isAbsent(found) ? fallback : found
}

const dictSort = (frame: Frame, value: Value, caseSensitive: Value, by: Value, reverse: Value): Value => {
  const mapping = needMapping(frame, value, 'dictsort')
  const position =
    by === undefined || by === 'key' ? 0 : by === 'value' ? 1 : fault("by must be 'key' or 'value'")
  const folded = (part: Value): Value =>
    typeof part === 'string' && !isTrue(caseSensitive) ? part.toLowerCase() : part
  const pairs = Object.keys(mapping).map((key) => [key, mapping[key]] as const)
  charge(frame, pairs.length)
  const direction = isTrue(reverse) ? -1 : 1
  return pairs.sort(
    (left, right) => direction * compareValues(frame, folded(left[position]), folded(right[position])),
  )
}

export const MAPPING_FILTERS: readonly (readonly [string, Callable])[] = [
  ['keys', optional('', keysOf)],
  ['values', optional('', valuesOf)],
  ['items', optional('', itemsOf)],
  ['get', requiring(1, 'key default', getOr)],
  [
    'attr',
    requiring(1, 'name', (_frame, value, name) =>
      typeof name === 'string' ? member(value, name) : item(value, name),
    ),
  ],
  ['dictsort', optional('case_sensitive by reverse', dictSort)],
]
