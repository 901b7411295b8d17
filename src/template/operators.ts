/**
 * The arithmetic operators on values of every type: numbers calculate, texts and lists join with `+` and repeat
 * with `*`, and a text on the left of `%` is a format.
 */
import { fault } from './errors.ts'
import { formatPercent } from './format-text.ts'
import { charge, reserveText, type Budget } from './limits.ts'
import { asNumeric, calculate, isInteger, negate, toNumber } from './numbers.ts'
import type { ArithmeticOperator } from './syntax-tree.ts'
import { repeatText } from './text-tools.ts'
import { asList, isMapping, kindOf, whole, type Value } from './values.ts'

const unsupported = (operator: ArithmeticOperator, left: Value, right: Value): never => {
  const kinds = [kindOf(left), kindOf(right)]
  const advice = operator === '+' && kinds.includes('text') ? ', use ~ to join texts' : ''
  return fault(`cannot use ${operator} on ${kinds[0]} and ${kinds[1]}${advice}`)
}

/** Texts and lists; undefined when neither side asks for that. */
const joinOrRepeat = (budget: Budget, operator: ArithmeticOperator, left: Value, right: Value): Value => {
  const one = asList(left) ?? whole(left)
  const other = asList(right) ?? whole(right)
  if (operator === '+') {
    if (typeof one === 'string' && typeof other === 'string') {
      reserveText(budget, one.length + other.length)
      return one + other
    }
    if (!Array.isArray(one) || !Array.isArray(other)) return undefined
    charge(budget, (one.length + other.length) / 8)
    return one.concat(other)
  }
  if (operator === '*') return repeat(budget, one, other) ?? repeat(budget, other, one)
  if (operator === '%' && typeof one === 'string') {
    const named = isMapping(other) ? other : undefined
    return formatPercent(
      budget,
      one,
      named === undefined ? (Array.isArray(other) ? other : [other]) : [],
      named,
    )
  }
  return undefined
}

const repeat = (budget: Budget, repeated: Value, times: Value): Value => {
  const isList = Array.isArray(repeated)
  if (!isList && typeof repeated !== 'string') return undefined
  const number = asNumeric(times)
  if (number === undefined || !isInteger(number)) return undefined
  const count = Math.max(0, toNumber(number))
  if (!isList) return repeatText(budget, repeated, count)
  charge(budget, repeated.length * count)
  return Array.from({ length: repeated.length === 0 ? 0 : count }, () => repeated as readonly Value[]).flat()
}

export const arithmetic = (
  budget: Budget,
  operator: ArithmeticOperator,
  left: Value,
  right: Value,
): Value => {
  const leftNumber = asNumeric(left)
  const rightNumber = asNumeric(right)
  if (leftNumber !== undefined && rightNumber !== undefined)
    return calculate(operator, leftNumber, rightNumber)
  return joinOrRepeat(budget, operator, left, right) ?? unsupported(operator, left, right)
}

export const add = (budget: Budget, left: Value, right: Value): Value => arithmetic(budget, '+', left, right)

export const applySign = (operator: '-' | '+', value: Value): Value => {
  const number = asNumeric(value)
  if (number === undefined) return fault(`cannot use ${operator} on ${kindOf(value)}`)
  return operator === '-' ? negate(number) : number
}
