/** Filters that order, group or fold a sequence by its elements or by a path into them (`a.b.0`). */
import type { Json } from '../../contract/json.ts'
import { add } from '../operators.ts'
import { optional, requiring, type Callable } from '../callable.ts'
import { compareValues, isEqual } from '../compare.ts'
import type { Frame } from '../frame.ts'
import { charge } from '../limits.ts'
import { VIEW, type View } from '../scope.ts'
import { elementsOf } from '../sequences.ts'
import { toJson } from '../to-json.ts'
import { isTrue, itemByPath, whole, type Value } from '../values.ts'

interface Keyed {
  readonly element: Value
  readonly keys: readonly Value[]
}

const fold = (value: Value, caseSensitive: Value): Value => {
  const plain = whole(value)
  return typeof plain === 'string' && !isTrue(caseSensitive) ? plain.toLowerCase() : plain
}

/** Several paths can be given with commas between them. */
const pathsOf = (attribute: Value): Value[] =>
  typeof attribute === 'string' ? attribute.split(',').map((path) => path.trim()) : [attribute]

const keyed = (frame: Frame, value: Value, attribute: Value, caseSensitive: Value): Keyed[] => {
  const elements = elementsOf(frame, value)
  charge(frame, elements.length)
  if (attribute === undefined || attribute === null) {
    return elements.map((element) => ({ element, keys: [fold(element, caseSensitive)] }))
  }
  const paths = pathsOf(attribute)
  return elements.map((element) => ({
    element,
    keys: paths.map((path) => fold(itemByPath(element, path), caseSensitive)),
  }))
}

const compareKeys = (frame: Frame, left: Keyed, right: Keyed): number => {
  for (const [index, key] of left.keys.entries()) {
    const order = compareValues(frame, key, right.keys[index])
    if (order !== 0) return order
  }
  return 0
}

const sort = (frame: Frame, value: Value, reverse: Value, caseSensitive: Value, attribute: Value): Value => {
  const direction = isTrue(reverse) ? -1 : 1
  return keyed(frame, value, attribute, caseSensitive)
    .sort((left, right) => direction * compareKeys(frame, left, right))
    .map((one) => one.element)
}

const extreme =
  (direction: 1 | -1) =>
  (frame: Frame, value: Value, caseSensitive: Value, attribute: Value): Value => {
    let best: Keyed | undefined
    for (const one of keyed(frame, value, attribute, caseSensitive)) {
      if (best === undefined || direction * compareKeys(frame, one, best) > 0) best = one
    }
    return best?.element
  }

const sum = (frame: Frame, value: Value, attribute: Value, start: Value): Value => {
  let total: Value = start ?? 0
  const elements = elementsOf(frame, value)
  charge(frame, elements.length / 4)
  for (const element of elements) {
    total = add(frame, total, attribute === undefined ? element : itemByPath(element, attribute))
  }
  return total
}

/** A pair that can be unpacked, and also read as `.grouper` and `.list`. */
const group = (frame: Frame, grouper: Value, list: readonly Value[]): View => {
  const plain = (): readonly Json[] => [toJson(frame, grouper, true), toJson(frame, list, true)]
  return {
    [VIEW]: true,
    plain,
    get: (key) => (key === 'grouper' ? grouper : key === 'list' ? list : undefined),
    sequence: () => [grouper, list] as readonly Json[],
  }
}

const groupBy = (
  frame: Frame,
  value: Value,
  attribute: Value,
  fallback: Value,
  caseSensitive: Value,
): Value => {
  const keyOf = (element: Value): Value => {
    const found = itemByPath(element, attribute)
    return found === undefined ? fallback : found
  }
  const elements = elementsOf(frame, value)
  charge(frame, elements.length)
  const sorted = elements
    .map((element) => ({ element, key: keyOf(element), keys: [fold(keyOf(element), caseSensitive)] }))
    .sort((left, right) => compareKeys(frame, left, right))
  const groups: { readonly key: Value; readonly folded: Value; readonly list: Value[] }[] = []
  for (const { element, key, keys } of sorted) {
    const last = groups.at(-1)
    if (last !== undefined && isEqual(frame, last.folded, keys[0])) last.list.push(element)
    else groups.push({ key, folded: keys[0], list: [element] })
  }
  return groups.map(({ key, list }) => group(frame, key, list))
}

export const ORDER_FILTERS: readonly (readonly [string, Callable])[] = [
  ['sort', optional('reverse case_sensitive attribute', sort)],
  ['min', optional('case_sensitive attribute', extreme(-1))],
  ['max', optional('case_sensitive attribute', extreme(1))],
  ['sum', optional('attribute start', sum)],
  ['groupby', requiring(1, 'attribute default case_sensitive', groupBy)],
]
