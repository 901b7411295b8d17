/** Filters on sequences as wholes. Elements are taken as `elementsOf` says. */
import { optional, requiring, type Callable } from '../callable.ts'
import { isEqual } from '../compare.ts'
import { fault } from '../errors.ts'
import type { Frame } from '../frame.ts'
import { charge } from '../limits.ts'
import { asNumeric, toNumber } from '../numbers.ts'
import { elementsOf, lengthOf, wholeNumber } from '../sequences.ts'
import { textOf } from '../text-form.ts'
import { joinTexts } from '../text-tools.ts'
import { characters, isTrue, itemByPath, whole, type Value } from '../values.ts'

const isNothing = (value: Value): boolean => value === undefined || value === null

const elements = (frame: Frame, value: Value): readonly Value[] => {
  const found = elementsOf(frame, value)
  charge(frame, found.length / 4)
  return found
}

const join = (frame: Frame, value: Value, separator: Value, attribute: Value): string => {
  const parts = elements(frame, value).map((element) =>
    textOf(frame, attribute === undefined ? element : itemByPath(element, attribute)),
  )
  return joinTexts(frame, parts, isNothing(separator) ? '' : textOf(frame, separator))
}

const reverse = (frame: Frame, value: Value): Value => {
  const plain = whole(value)
  if (typeof plain !== 'string') return elements(frame, value).toReversed()
  charge(frame, plain.length / 64)
  return characters(plain).reverse().join('')
}

const count = (value: Value, what: string): number => {
  const size = wholeNumber(value, what, 0)
  return size < 1 ? fault(`${what} must be at least 1`) : size
}

/** Rows of equal length, the last one filled up when a filling is given. */
const batch = (frame: Frame, value: Value, lineCount: Value, filling: Value): Value => {
  const size = count(lineCount, 'size of a batch')
  const list = elements(frame, value)
  const rows: Value[][] = []
  for (let at = 0; at < list.length; at += size) rows.push(list.slice(at, at + size))
  const last = rows.at(-1)
  if (last !== undefined && !isNothing(filling)) {
    charge(frame, size - last.length)
    while (last.length < size) last.push(filling)
  }
  return rows
}

/** A fixed number of columns, the first ones longer by one when it does not divide evenly. */
const slice = (frame: Frame, value: Value, columnCount: Value, filling: Value): Value => {
  const columns = count(columnCount, 'number of slices')
  const list = elements(frame, value)
  charge(frame, columns)
  const perColumn = Math.floor(list.length / columns)
  const longer = list.length % columns
  let from = 0
  return Array.from({ length: columns }, (_, column) => {
    const to = from + perColumn + (column < longer ? 1 : 0)
    const part = list.slice(from, to)
    from = to
    if (!isNothing(filling) && longer > 0 && column >= longer) part.push(filling)
    return part
  })
}

/** Finds what was seen before: scalars by a key, containers one by one. */
const createSeen = (frame: Frame): ((value: Value) => boolean) => {
  const scalars = new Set<Value>()
  const others: Value[] = []
  return (value) => {
    const number = asNumeric(value)
    const scalar = typeof number === 'object' ? toNumber(number) : (number ?? value)
    if (typeof scalar !== 'object' || scalar === null) {
      if (scalars.has(scalar)) return true
      scalars.add(scalar)
      return false
    }
    charge(frame, others.length / 4)
    if (others.some((other) => isEqual(frame, other, value))) return true
    others.push(value)
    return false
  }
}

const unique = (frame: Frame, value: Value, caseSensitive: Value, attribute: Value): Value => {
  const seen = createSeen(frame)
  return elements(frame, value).filter((element) => {
    const key = whole(attribute === undefined ? element : itemByPath(element, attribute))
    return !seen(typeof key === 'string' && !isTrue(caseSensitive) ? key.toLowerCase() : key)
  })
}

const first = (frame: Frame, value: Value): Value => {
  const plain = whole(value)
  return typeof plain === 'string' ? plain.match(/^./su)?.[0] : elementsOf(frame, value)[0]
}

const zip = (frame: Frame, lists: readonly Value[]): Value => {
  const all = lists.map((list) => elements(frame, list))
  const shortest = Math.min(...all.map((list) => list.length))
  charge(frame, shortest * all.length)
  return Array.from({ length: shortest }, (_, index) => all.map((list) => list[index]))
}

const length = optional('', lengthOf)

export const LIST_FILTERS: readonly (readonly [string, Callable])[] = [
  ['length', length],
  ['len', length],
  ['count', length],
  ['list', optional('', (frame, value) => [...elements(frame, value)])],
  ['first', optional('', first)],
  ['last', optional('', (frame, value) => elementsOf(frame, value).at(-1))],
  ['join', optional('d attribute', join)],
  ['reverse', optional('', reverse)],
  ['batch', requiring(1, 'linecount fill_with', batch)],
  ['slice', requiring(1, 'slices fill_with', slice)],
  ['unique', optional('case_sensitive attribute', unique)],
  [
    'chain',
    {
      parameters: undefined,
      named: [],
      required: 0,
      apply: (frame, value, args) => [value, ...args.positional].flatMap((list) => elements(frame, list)),
    },
  ],
  [
    'zip',
    {
      parameters: undefined,
      named: [],
      required: 0,
      apply: (frame, value, args) => zip(frame, [value, ...args.positional]),
    },
  ],
]
