/**
 * Equality, order and containment.
 *
 * 1. Numbers are equal by size whatever their type, and booleans count as 0 and 1; text never equals a number.
 *    Undefined equals only undefined.
 * 2. Values of different types are ordered by type: undefined, none, boolean, number, text, list, mapping. Only a
 *    number and a text that is a complete decimal number are ordered by size.
 * 3. A view that compares itself does so on either side of an equality, also inside of lists.
 */
import { fault } from './errors.ts'
import { charge, chargeSearch, checkDataDepth, type Budget } from './limits.ts'
import { asNumeric, compareNumbers, parseDecimal } from './numbers.ts'
import { isView } from './scope.ts'
import { textOf } from './text-form.ts'
import {
  asList,
  asMapping,
  isAbsent,
  isMapping,
  kindOf,
  whole,
  type Kind,
  type Mapping,
  type Value,
} from './values.ts'

export const isEqual = (budget: Budget, left: Value, right: Value, depth = 0): boolean => {
  if (left === right) return true
  if (isView(left)) {
    return left.equals === undefined ? isEqual(budget, left.plain(), right, depth + 1) : left.equals(right)
  }
  if (isView(right)) {
    return right.equals === undefined ? isEqual(budget, left, right.plain(), depth + 1) : right.equals(left)
  }
  if (typeof left === 'string' || typeof right === 'string' || left === null || right === null) return false
  const leftNumber = asNumeric(left)
  const rightNumber = asNumeric(right)
  if (leftNumber !== undefined && rightNumber !== undefined)
    return compareNumbers(leftNumber, rightNumber) === 0
  charge(budget, 1)
  checkDataDepth(depth)
  if (Array.isArray(left)) return Array.isArray(right) && areListsEqual(budget, left, right, depth + 1)
  return isMapping(left) && isMapping(right) && areMappingsEqual(budget, left, right, depth + 1)
}

const areListsEqual = (
  budget: Budget,
  left: readonly Value[],
  right: readonly Value[],
  depth: number,
): boolean => {
  if (left.length !== right.length) return false
  charge(budget, left.length / 4)
  return left.every((element, index) => isEqual(budget, element, right[index], depth))
}

const areMappingsEqual = (budget: Budget, left: Mapping, right: Mapping, depth: number): boolean => {
  const keys = Object.keys(left)
  if (keys.length !== Object.keys(right).length) return false
  charge(budget, keys.length / 4)
  return keys.every((key) => Object.hasOwn(right, key) && isEqual(budget, left[key], right[key], depth))
}

const RANK: Readonly<Record<Kind, number>> = {
  undefined: 0,
  none: 1,
  boolean: 2,
  number: 3,
  text: 4,
  list: 5,
  mapping: 6,
}

const compareText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

/** A number against a text; undefined when the text is not a number. */
const compareBySize = (left: Value, right: Value): number | undefined => {
  const one = typeof left === 'string' ? parseDecimal(left) : asNumeric(left)
  const other = typeof right === 'string' ? parseDecimal(right) : asNumeric(right)
  return one === undefined || other === undefined ? undefined : compareNumbers(one, other)
}

const compareLists = (
  budget: Budget,
  left: readonly Value[],
  right: readonly Value[],
  depth: number,
): number => {
  for (let index = 0; index < left.length && index < right.length; index += 1) {
    const order = compareValues(budget, left[index], right[index], depth)
    if (order !== 0) return order
  }
  return left.length - right.length
}

const entriesOf = (mapping: Mapping): Value[] => Object.keys(mapping).map((key) => [key, mapping[key]])

/** Negative when `left` comes first. */
export const compareValues = (budget: Budget, left: Value, right: Value, depth = 0): number => {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right)
  const one = whole(left)
  const other = whole(right)
  const leftKind = kindOf(one)
  const rightKind = kindOf(other)
  if (leftKind !== rightKind) {
    const isMixed =
      (leftKind === 'number' && rightKind === 'text') || (leftKind === 'text' && rightKind === 'number')
    return (isMixed ? compareBySize(one, other) : undefined) ?? RANK[leftKind] - RANK[rightKind]
  }
  charge(budget, 1)
  checkDataDepth(depth)
  if (typeof one === 'string' && typeof other === 'string') return compareText(one, other)
  if (Array.isArray(one) && Array.isArray(other)) return compareLists(budget, one, other, depth + 1)
  if (isMapping(one) && isMapping(other)) {
    return compareLists(budget, entriesOf(one), entriesOf(other), depth + 1)
  }
  return compareBySize(one, other) ?? 0
}

/** `item in container` */
export const contains = (budget: Budget, container: Value, item: Value): boolean => {
  if (isAbsent(container)) return false
  if (isView(container) && typeof item === 'string' && !isAbsent(container.get?.(item))) return true
  const list = asList(container)
  if (list !== undefined) {
    charge(budget, list.length / 8)
    return list.some((element) => isEqual(budget, item, element))
  }
  const plain = whole(container)
  if (typeof plain === 'string') {
    const kind = kindOf(item)
    if (kind === 'undefined' || kind === 'none') return false
    const wanted = textOf(budget, item)
    chargeSearch(budget, plain, wanted)
    return plain.includes(wanted)
  }
  const mapping = asMapping(plain)
  if (mapping !== undefined) {
    const key = whole(item)
    return (typeof key === 'string' || typeof key === 'number') && Object.hasOwn(mapping, String(key))
  }
  const kind = kindOf(plain)
  return kind === 'undefined' || kind === 'none' ? false : fault(`cannot look for a member in a ${kind}`)
}
