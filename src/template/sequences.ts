/**
 * Values as sequences: iteration, size and slices.
 *
 * 1. A list iterates over its elements, a mapping over its keys, a text over its characters; undefined and none are
 *    empty. Everything else cannot be iterated.
 * 2. Slices follow the rules of positions counted from either end, with any step but zero.
 */
import { fault } from './errors.ts'
import { charge, chargeText, type Budget } from './limits.ts'
import { asNumeric, isInteger, toNumber } from './numbers.ts'
import { asList, characterCount, characters, isMapping, kindOf, whole, type Value } from './values.ts'

/** The elements of a sequence, without a copy where possible. Costs grow with what is done with them. */
export const elementsOf = (budget: Budget, value: Value): readonly Value[] => {
  const list = asList(value)
  if (list !== undefined) {
    charge(budget, list.length / 8)
    return list
  }
  const plain = whole(value)
  if (plain === undefined || plain === null) return []
  if (typeof plain === 'string') {
    charge(budget, plain.length / 8)
    return characters(plain)
  }
  if (isMapping(plain)) {
    const keys = Object.keys(plain)
    charge(budget, keys.length / 8)
    return keys
  }
  return fault(`cannot iterate over a ${kindOf(plain)}`)
}

export const lengthOf = (budget: Budget, value: Value): number => {
  const list = asList(value)
  if (list !== undefined) return list.length
  const plain = whole(value)
  if (plain === undefined || plain === null) return 0
  if (typeof plain === 'string') {
    chargeText(budget, plain.length)
    return characterCount(plain)
  }
  return isMapping(plain) ? Object.keys(plain).length : fault(`a ${kindOf(plain)} has no length`)
}

/** A whole number given as an argument; the fallback when it is not given. */
export const wholeNumber = (value: Value, what: string, fallback: number): number => {
  if (value === undefined || value === null) return fallback
  const number = asNumeric(value)
  if (number === undefined || !isInteger(number)) return fault(`${what} must be an integer`)
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, toNumber(number)))
}

const clamp = (position: number, low: number, high: number): number => Math.max(low, Math.min(high, position))

/** `value[start:stop:step]` */
export const sliceOf = (budget: Budget, value: Value, start: Value, stop: Value, step: Value): Value => {
  const plain = asList(value) ?? whole(value)
  if (plain === undefined || plain === null) return undefined
  const isText = typeof plain === 'string'
  if (!isText && !Array.isArray(plain)) return fault(`cannot slice a ${kindOf(plain)}`)
  const elements = elementsOf(budget, plain)
  const stride = wholeNumber(step, 'step of a slice', 1)
  if (stride === 0) return fault('step of a slice cannot be zero')
  const size = elements.length
  const low = stride > 0 ? 0 : -1
  const high = stride > 0 ? size : size - 1
  const bound = (given: Value, fallback: number): number => {
    const position = wholeNumber(given, 'bound of a slice', fallback)
    if (given === undefined || given === null) return position
    return clamp(position < 0 ? position + size : position, low, high)
  }
  const from = bound(start, stride > 0 ? low : high)
  const to = bound(stop, stride > 0 ? high : low)
  const picked: Value[] = []
  for (let at = from; stride > 0 ? at < to : at > to; at += stride) picked.push(elements[at])
  charge(budget, picked.length / 8)
  return isText ? picked.join('') : picked
}
