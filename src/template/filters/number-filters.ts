/**
 * Filters to and on numbers. Converting never fails: what is no number becomes the default.
 */
import { optional, type Callable } from '../callable.ts'
import { fault } from '../errors.ts'
import { isFalseText } from '../condition.ts'
import type { Frame } from '../frame.ts'
import {
  asNumeric,
  integer,
  isInteger,
  negate,
  parseDecimal,
  toNumber,
  truncate,
  type Numeric,
} from '../numbers.ts'
import { wholeNumber } from '../sequences.ts'
import { FLOAT, float, isTrue, kindOf, whole, type Value } from '../values.ts'

const parseNumeric = (value: Value): Numeric | undefined => {
  const plain = whole(value)
  return typeof plain === 'string' ? parseDecimal(plain) : asNumeric(plain)
}

const DIGIT_VALUES = '0123456789abcdefghijklmnopqrstuvwxyz'
const PREFIX: Readonly<Record<number, RegExp>> = { 16: /^0x/, 8: /^0o/, 2: /^0b/ }
const MAX_DIGITS = 1000

const parseInBase = (text: string, base: number): Numeric | undefined => {
  if (base < 2 || base > 36) return fault('base must be between 2 and 36')
  const lower = text.trim().toLowerCase()
  const isNegative = lower.startsWith('-')
  const unsigned = isNegative || lower.startsWith('+') ? lower.slice(1) : lower
  const prefix = PREFIX[base]
  const digits = prefix === undefined ? unsigned : unsigned.replace(prefix, '')
  if (digits === '' || digits.length > MAX_DIGITS) return undefined
  let exact = 0n
  for (const letter of digits) {
    const digit = DIGIT_VALUES.indexOf(letter)
    if (digit === -1 || digit >= base) return undefined
    exact = exact * BigInt(base) + BigInt(digit)
  }
  return integer(isNegative ? -exact : exact)
}

const toInteger = (_frame: Frame, value: Value, fallback: Value, base: Value): Value => {
  const plain = whole(value)
  const radix = wholeNumber(base, 'base', 10)
  const number = radix !== 10 && typeof plain === 'string' ? parseInBase(plain, radix) : parseNumeric(plain)
  if (number !== undefined) return truncate(number)
  return fallback === undefined ? 0 : fallback
}

const toFloat = (_frame: Frame, value: Value, fallback: Value): Value => {
  const number = parseNumeric(value)
  if (number !== undefined) return float(toNumber(number))
  return fallback === undefined ? { [FLOAT]: 0 } : fallback
}

const needNumber = (value: Value, filter: string): Numeric =>
  asNumeric(value) ?? fault(`${filter} needs a number, found ${kindOf(value)}`)

const MAX_PRECISION = 100

/** Half away from zero; the decimal digits are those of the number itself. */
const roundCommon = (number: number, precision: number): number => {
  if (precision >= 0)
    return Math.abs(number) < 1e21 ? Number(number.toFixed(Math.min(precision, MAX_PRECISION))) : number
  const unit = 10 ** Math.min(-precision, 308)
  return Math.sign(number) * Math.round(Math.abs(number) / unit) * unit
}

const roundTowards = (number: number, precision: number, method: 'ceil' | 'floor'): number => {
  const unit = 10 ** Math.max(-308, Math.min(308, precision))
  const scaled = number * unit
  if (!Number.isFinite(scaled)) return number
  return (method === 'ceil' ? Math.ceil(scaled) : Math.floor(scaled)) / unit
}

const round = (_frame: Frame, value: Value, precision: Value, method: Value): Value => {
  const number = needNumber(value, 'round')
  const digits = wholeNumber(precision, 'precision', 0)
  if (isInteger(number) && digits >= 0) return number
  const how = method ?? 'common'
  if (how !== 'common' && how !== 'ceil' && how !== 'floor') {
    return fault("method of round must be 'common', 'ceil' or 'floor'")
  }
  const size = toNumber(number)
  const rounded = how === 'common' ? roundCommon(size, digits) : roundTowards(size, digits, how)
  return isInteger(number) ? truncate(float(rounded)) : float(rounded)
}

const absolute = (_frame: Frame, value: Value): Value => {
  const number = needNumber(value, 'abs')
  return toNumber(number) < 0 ? negate(number) : number
}

/** Text is read as people write booleans: `no`, `off`, `False`, `0` are false. */
const toBoolean = (_frame: Frame, value: Value): Value => {
  const plain = whole(value)
  return typeof plain === 'string' ? !isFalseText(plain) : isTrue(plain)
}

export const NUMBER_FILTERS: readonly (readonly [string, Callable])[] = [
  ['int', optional('default base', toInteger)],
  ['float', optional('default', toFloat)],
  ['bool', optional('', toBoolean)],
  ['abs', optional('', absolute)],
  ['round', optional('precision method', round)],
]
