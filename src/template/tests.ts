/** What can stand after `is`. A test answers a boolean and never fails because of the type of its input. */
import { optional, requiring, type Callable } from './callable.ts'
import { compareValues, contains, isEqual } from './compare.ts'
import type { Frame } from './frame.ts'
import { asNumeric, calculate, isInteger, toNumber } from './numbers.ts'
import { textOf } from './text-form.ts'
import { asList, asMapping, kindOf, whole, type Kind, type Value } from './values.ts'

const ofKind = (...kinds: readonly Kind[]): Callable =>
  optional('', (_frame, value) => kinds.includes(kindOf(value)))

const isWhole = (value: Value): boolean => {
  const plain = whole(value)
  const number = typeof plain === 'boolean' ? undefined : asNumeric(plain)
  return number !== undefined && isInteger(number)
}

const hasRemainder = (value: Value, divisor: Value, remainder: number): boolean => {
  const number = asNumeric(value)
  const by = asNumeric(divisor)
  if (number === undefined || by === undefined || toNumber(by) === 0) return false
  return toNumber(calculate('%', number, by)) === remainder
}

const comparing = (accepts: (order: number) => boolean): Callable =>
  requiring(1, 'other', (frame, value, other) => accepts(compareValues(frame, value, other)))

const equal = requiring(1, 'other', (frame, value, other) => isEqual(frame, value, other))
const unequal = requiring(1, 'other', (frame, value, other) => !isEqual(frame, value, other))
const less = comparing((order) => order < 0)
const atMost = comparing((order) => order <= 0)
const more = comparing((order) => order > 0)
const atLeast = comparing((order) => order >= 0)

const isCased = (text: string): boolean => text.toLowerCase() !== text.toUpperCase()

const onText = (accepts: (text: string) => boolean): Callable =>
  optional('', (_frame, value) => {
    const plain = whole(value)
    return typeof plain === 'string' && accepts(plain)
  })

const isSame = (frame: Frame, value: Value, other: Value): boolean => {
  const left = whole(value)
  const right = whole(other)
  if (left === right) return true
  // Scalars have no identity of their own; containers do.
  return kindOf(left) === 'number' && isWhole(left) === isWhole(right) && isEqual(frame, left, right)
}

const affix = (accepts: (text: string, part: string) => boolean): Callable =>
  requiring(1, 'part', (frame, value, part) => {
    const plain = whole(value)
    return typeof plain === 'string' && accepts(plain, textOf(frame, part))
  })

export const TESTS: ReadonlyMap<string, Callable> = new Map<string, Callable>([
  ['defined', optional('', (_frame, value) => kindOf(value) !== 'undefined')],
  ['undefined', ofKind('undefined')],
  ['none', ofKind('none')],
  ['string', ofKind('text')],
  ['number', ofKind('number')],
  ['boolean', ofKind('boolean')],
  ['true', optional('', (_frame, value) => whole(value) === true)],
  ['false', optional('', (_frame, value) => whole(value) === false)],
  ['integer', optional('', (_frame, value) => isWhole(value))],
  ['float', optional('', (_frame, value) => kindOf(value) === 'number' && !isWhole(value))],
  ['sequence', optional('', (_frame, value) => asList(value) !== undefined)],
  ['mapping', optional('', (_frame, value) => asMapping(value) !== undefined)],
  [
    'iterable',
    optional(
      '',
      (_frame, value) => asList(value) !== undefined || ['text', 'mapping'].includes(kindOf(value)),
    ),
  ],
  ['odd', optional('', (_frame, value) => isWhole(value) && hasRemainder(value, 2, 1))],
  ['even', optional('', (_frame, value) => isWhole(value) && hasRemainder(value, 2, 0))],
  ['divisibleby', requiring(1, 'num', (_frame, value, divisor) => hasRemainder(value, divisor, 0))],
  ['startingwith', affix((text, part) => text.startsWith(part))],
  ['endingwith', affix((text, part) => text.endsWith(part))],
  ['containing', requiring(1, 'item', (frame, value, item) => contains(frame, value, item))],
  ['lower', onText((text) => isCased(text) && text === text.toLowerCase())],
  ['upper', onText((text) => isCased(text) && text === text.toUpperCase())],
  ['sameas', requiring(1, 'other', isSame)],
  ['in', requiring(1, 'seq', (frame, value, container) => contains(frame, container, value))],
  ['eq', equal],
  ['equalto', equal],
  ['==', equal],
  ['ne', unequal],
  ['!=', unequal],
  ['lt', less],
  ['lessthan', less],
  ['<', less],
  ['le', atMost],
  ['<=', atMost],
  ['gt', more],
  ['greaterthan', more],
  ['>', more],
  ['ge', atLeast],
  ['>=', atLeast],
])
