/**
 * Arithmetic.
 *
 * 1. Integers are exact: a result that is not a safe integer becomes a bigint, and comes back when it is safe again.
 * 2. `/` always gives a float; the other operators give a float when a float takes part. `//` rounds down and `%` takes
 *    the sign of the divisor.
 * 3. Dividing by zero and numbers beyond all bounds are faults, so infinite numbers and not-a-number do not occur.
 */
import { fault } from './errors.ts'
import { MAX_INTEGER_BITS } from './limits.ts'
import type { ArithmeticOperator } from './syntax-tree.ts'
import { FLOAT, float, isFloat, whole, type Float, type Value } from './values.ts'

export type Numeric = number | bigint | Float

/** A whole number as small as it can be kept. */
export const integer = (exact: bigint): number | bigint => {
  if (exact >= BigInt(Number.MIN_SAFE_INTEGER) && exact <= BigInt(Number.MAX_SAFE_INTEGER))
    return Number(exact)
  if (exact >> BigInt(MAX_INTEGER_BITS) !== 0n && exact >> BigInt(MAX_INTEGER_BITS) !== -1n) {
    return fault('number is too large')
  }
  return exact
}

/** The number behind a value, booleans counting as 0 and 1; undefined when it is none. */
export const asNumeric = (value: Value): Numeric | undefined => {
  if (typeof value === 'number' || typeof value === 'bigint' || isFloat(value)) return value
  if (typeof value === 'boolean') return value ? 1 : 0
  const plain = whole(value)
  return plain === value ? undefined : asNumeric(plain)
}

export const isInteger = (value: Numeric): value is number | bigint =>
  typeof value === 'bigint' || Number.isSafeInteger(value)

export const toNumber = (value: Numeric): number => (isFloat(value) ? value[FLOAT] : Number(value))

/** Rounds towards zero. */
export const truncate = (value: Numeric): number | bigint => {
  if (isInteger(value)) return value
  const number = Math.trunc(toNumber(value))
  return Number.isSafeInteger(number) ? number : integer(BigInt(number))
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const WHOLE = /^[+-]?\d+$/
/** Longer digits than this are not worth an exact number. */
const MAX_DIGITS = 1000

/** Reads a text that is a complete decimal number; undefined when it is not. */
export const parseDecimal = (text: string): Numeric | undefined => {
  const trimmed = text.trim()
  if (trimmed.length > MAX_DIGITS || !DECIMAL.test(trimmed)) return undefined
  if (WHOLE.test(trimmed)) {
    const digits = trimmed.startsWith('+') ? trimmed.slice(1) : trimmed
    const number = Number(digits)
    return Number.isSafeInteger(number) ? number : integer(BigInt(digits))
  }
  const number = Number(trimmed)
  return Number.isFinite(number) ? float(number) : undefined
}

const notZero = <Divisor extends number | bigint>(divisor: Divisor): Divisor =>
  divisor === 0 || divisor === 0n ? fault('division by zero') : divisor

const floorDivide = (left: bigint, right: bigint): bigint => {
  const quotient = left / right
  return left % right !== 0n && left < 0n !== right < 0n ? quotient - 1n : quotient
}

const bitsOf = (value: bigint): number => (value < 0n ? -value : value).toString(16).length * 4

const power = (left: bigint, right: bigint): number | bigint => {
  const isUnit = left >= -1n && left <= 1n
  if (!isUnit && BigInt(bitsOf(left) - 4) * right > BigInt(MAX_INTEGER_BITS))
    return fault('number is too large')
  // Of 0, 1 and -1 only the sign of the exponent's parity matters.
  return integer(left ** (isUnit && right > 2n ? 2n + (right % 2n) : right))
}

const EXACTLY: Readonly<Record<ArithmeticOperator, (left: bigint, right: bigint) => Numeric>> = {
  '+': (left, right) => integer(left + right),
  '-': (left, right) => integer(left - right),
  '*': (left, right) => integer(left * right),
  '/': (left, right) => float(Number(left) / Number(notZero(right))),
  '//': (left, right) => integer(floorDivide(left, notZero(right))),
  '%': (left, right) => integer(left - right * floorDivide(left, notZero(right))),
  '**': (left, right) => (right < 0n ? float(Number(notZero(left)) ** Number(right)) : power(left, right)),
}

const floatRemainder = (left: number, right: number): number => {
  const remainder = left % right
  return remainder !== 0 && remainder < 0 !== right < 0 ? remainder + right : remainder
}

const floatPower = (left: number, right: number): Numeric => {
  const result = (right < 0 ? notZero(left) : left) ** right
  return Number.isNaN(result) ? fault('the root of a negative number is not a number') : float(result)
}

const AS_FLOATS: Readonly<Record<ArithmeticOperator, (left: number, right: number) => Numeric>> = {
  '+': (left, right) => float(left + right),
  '-': (left, right) => float(left - right),
  '*': (left, right) => float(left * right),
  '/': (left, right) => float(left / notZero(right)),
  '//': (left, right) => float(Math.floor(left / notZero(right))),
  '%': (left, right) => float(floatRemainder(left, notZero(right))),
  '**': floatPower,
}

/** The everyday case: two small whole numbers; undefined when it needs more care. */
const quickly = (operator: ArithmeticOperator, left: number, right: number): number | undefined => {
  const result =
    operator === '+'
      ? left + right
      : operator === '-'
        ? left - right
        : operator === '*'
          ? left * right
          : Number.NaN
  return Number.isSafeInteger(result) ? result : undefined
}

export const calculate = (operator: ArithmeticOperator, left: Numeric, right: Numeric): Numeric => {
  if (!isInteger(left) || !isInteger(right)) return AS_FLOATS[operator](toNumber(left), toNumber(right))
  if (typeof left === 'number' && typeof right === 'number') {
    const quick = quickly(operator, left, right)
    if (quick !== undefined) return quick
  }
  return EXACTLY[operator](BigInt(left), BigInt(right))
}

export const negate = (value: Numeric): Numeric => {
  if (typeof value === 'bigint') return integer(-value)
  if (isFloat(value)) return float(-value[FLOAT])
  return value === 0 ? 0 : -value
}

/** Numbers of any type by size. */
export const compareNumbers = (left: Numeric, right: Numeric): number => {
  const one = isFloat(left) ? left[FLOAT] : left
  const other = isFloat(right) ? right[FLOAT] : right
  return one < other ? -1 : one > other ? 1 : 0
}
