/** Filters between values and JSON text. */
import { optional, type Callable } from '../callable.ts'
import { fault } from '../errors.ts'
import { parseExact } from '../exact-parse.ts'
import type { Frame } from '../frame.ts'
import { charge } from '../limits.ts'
import { wholeNumber } from '../sequences.ts'
import { jsonText } from '../text-form.ts'
import { whole, type Value } from '../values.ts'

const parse = (frame: Frame, value: Value): Value => {
  const plain = whole(value)
  if (plain === undefined) return fault('fromjson needs text, found undefined')
  if (typeof plain !== 'string') return plain
  charge(frame, 1 + plain.length / 64)
  try {
    return parseExact(plain)
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
