/** Filters between values and JSON text. */
import { optional, type Callable } from '../callable.ts'
import { fault } from '../errors.ts'
import type { Frame } from '../frame.ts'
import { charge } from '../limits.ts'
import { wholeNumber } from '../sequences.ts'
import { jsonText } from '../text-form.ts'
import { whole, type Value } from '../values.ts'

const WHOLE_NUMBER = /^-?\d+$/

type Reviver = (this: unknown, key: string, value: unknown, context?: { readonly source?: string }) => unknown

/** Digits that a number cannot keep stay as text. */
const keepDigits: Reviver = (_key, value, context) => {
  const source = context?.source
  return typeof value === 'number' &&
    !Number.isSafeInteger(value) &&
    source !== undefined &&
    WHOLE_NUMBER.test(source)
    ? source
    : value
}

const parse = (frame: Frame, value: Value): Value => {
  const plain = whole(value)
  if (plain === undefined) return fault('fromjson needs text, found undefined')
  if (typeof plain !== 'string') return plain
  charge(frame, 1 + plain.length / 64)
  try {
    return /\d{16}/.test(plain) ? JSON.parse(plain, keepDigits) : JSON.parse(plain)
  } catch (problem) {
    return fault(`fromjson: ${problem instanceof Error ? problem.message : 'invalid JSON'}`)
  }
}

const spaces = (indent: Value): number => {
  if (indent === true) return 2
  return indent === false ? 0 : wholeNumber(indent, 'indent', 0)
}

export const JSON_FILTERS: readonly (readonly [string, Callable])[] = [
  ['tojson', optional('indent', (frame, value, indent) => jsonText(frame, value, spaces(indent)))],
  ['fromjson', optional('', parse)],
  ['pprint', optional('', (frame, value) => jsonText(frame, value, 2))],
]
