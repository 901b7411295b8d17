/**
 * The values of an expression and how to reach into them.
 *
 * 1. JavaScript `undefined` is the undefined value; null is none; plain JSON is used as it is, never copied.
 * 2. A safe integer is an integer. A number with a fraction is a float. A float without a fraction (`4 / 2`) is a Float
 *    record, so that it prints as `2.0`. An integer that is not safe is a bigint.
 * 3. Only own enumerable members can be reached; functions and symbols count as undefined. Nothing of a prototype is
 *    visible.
 * 4. A view answers for itself: `get` for members, `sequence` for positions, `plain` for the rest.
 */
import { fault } from './errors.ts'
import { isView, type View } from './scope.ts'

/** Anything a host hands in; `kindOf` says what it counts as. */
export type Value = unknown

export type Kind = 'undefined' | 'none' | 'boolean' | 'number' | 'text' | 'list' | 'mapping'

export const FLOAT: unique symbol = Symbol('float')
export const NAMESPACE: unique symbol = Symbol('namespace')

/** A float whose value happens to be whole. */
export interface Float {
  readonly [FLOAT]: number
}

export type Mapping = Readonly<Record<string, Value>>

export const isFloat = (value: Value): value is Float =>
  typeof value === 'object' && value !== null && FLOAT in value

/** A number of float type, as a value: wrapped when it would otherwise look like an integer. */
export const float = (number: number): number | Float => {
  if (!Number.isFinite(number)) return fault('number is too large')
  return Number.isInteger(number) ? { [FLOAT]: number } : number
}

/** Undefined, or a view of something that is not there. */
export const isAbsent = (value: Value): boolean =>
  value === undefined || (isView(value) && value.absent === true)

/** The value to work with when a view is taken whole. */
export const whole = (value: Value): Value => (isView(value) ? value.plain() : value)

const SCALAR_KINDS: Readonly<Record<string, Kind>> = {
  string: 'text',
  number: 'number',
  bigint: 'number',
  boolean: 'boolean',
}

export const kindOf = (value: Value): Kind => {
  if (value === null) return 'none'
  if (typeof value !== 'object') return SCALAR_KINDS[typeof value] ?? 'undefined'
  if (Array.isArray(value)) return 'list'
  if (FLOAT in value) return 'number'
  if (isView(value)) return value.absent === true ? 'undefined' : kindOf(value.plain())
  return 'mapping'
}

export const isMapping = (value: Value): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(FLOAT in value) && !isView(value)

export const isTrue = (value: Value): boolean => {
  if (typeof value === 'boolean') return value
  if (typeof value === 'function' || typeof value === 'symbol') return false
  if (typeof value !== 'object' || value === null) return Boolean(value)
  if (Array.isArray(value)) return value.length > 0
  if (isFloat(value)) return value[FLOAT] !== 0
  if (isView(value)) return value.absent !== true && isTrue(value.plain())
  for (const key in value) if (Object.hasOwn(value, key)) return true
  return false
}

const ownMember = (container: object, key: string): Value => {
  if (!Object.prototype.propertyIsEnumerable.call(container, key)) return undefined
  const found: Value = (container as Mapping)[key]
  return typeof found === 'function' || typeof found === 'symbol' ? undefined : found
}

const viewMember = (view: View, key: string): Value => {
  if (view.get === undefined) return member(view.plain(), key)
  const found = view.get(key)
  return typeof found === 'function' || typeof found === 'symbol' ? undefined : found
}

/** `container.key`, `container["key"]` */
export const member = (container: Value, key: string): Value => {
  if (typeof container !== 'object' || container === null) return undefined
  if (isView(container)) return viewMember(container, key)
  // Positions of a list are reached by number only, and a Float has no members.
  if (Array.isArray(container) || FLOAT in container) return undefined
  return ownMember(container, key)
}

/** The characters of a text: code points, so that an emoji is one character. */
export const characters = (text: string): string[] =>
  hasSurrogates(text) ? Array.from(text) : text.split('')

export const characterCount = (text: string): number => {
  if (!hasSurrogates(text)) return text.length
  let count = 0
  for (const _ of text) count += 1
  return count
}

const SURROGATE = /[\uD800-\uDFFF]/
const hasSurrogates = (text: string): boolean => SURROGATE.test(text)

/** The list behind a list-like value; undefined when it is none. */
export const asList = (value: Value): readonly Value[] | undefined => {
  if (Array.isArray(value)) return value
  if (!isView(value)) return undefined
  if (value.sequence !== undefined) return value.sequence()
  const plain: Value = value.plain()
  return Array.isArray(plain) ? plain : undefined
}

/** The mapping behind a mapping-like value; undefined when it is none. */
export const asMapping = (value: Value): Mapping | undefined => {
  const plain = whole(value)
  return isMapping(plain) ? plain : undefined
}

const position = (length: number, index: number): number => (index < 0 ? length + index : index)

const itemAt = (container: Value, index: number): Value => {
  const list = asList(container)
  if (list !== undefined) {
    const found = list[position(list.length, index)]
    return typeof found === 'function' ? undefined : found
  }
  const plain = whole(container)
  if (typeof plain !== 'string') return member(container, String(index))
  const letters = characters(plain)
  return letters[position(letters.length, index)]
}

/** `container[key]` */
export const item = (container: Value, key: Value): Value => {
  const plainKey = whole(key)
  if (typeof plainKey === 'string') return member(container, plainKey)
  if (typeof plainKey === 'number') return itemAt(container, plainKey)
  if (typeof plainKey === 'bigint') return member(container, String(plainKey))
  return undefined
}

/** A path such as `a.b.0` from a filter argument; whole numbers are positions. */
export const itemByPath = (container: Value, path: Value): Value => {
  if (typeof path !== 'string') return item(container, path)
  let current = container
  for (const part of path.split('.')) {
    const direct = member(current, part)
    current = direct === undefined && /^\d{1,9}$/.test(part) ? itemAt(current, Number(part)) : direct
  }
  return current
}

/** Writes a member without ever touching a prototype. */
export const setMember = (target: Record<string, unknown>, key: string, value: unknown): void => {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true })
  } else {
    target[key] = value
  }
}
