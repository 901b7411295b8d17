/**
 * How values look as text.
 *
 * 1. Booleans and none print as `True`, `False`, `None`; undefined prints as nothing.
 * 2. A float without a fraction prints with `.0`; integers print all their digits.
 * 3. Lists and mappings print as compact JSON, in insertion order.
 * 4. Inside JSON undefined is null, and an integer that is not safe is a text of digits, as everywhere in data.
 */
import { charge, checkDataDepth, reserveText } from './limits.ts'
import type { Budget } from './limits.ts'
import { isView } from './scope.ts'
import { FLOAT, isFloat, type Mapping, type Value } from './values.ts'

/** From here on floats print with an exponent instead of zeros. */
const EXPONENT_FROM = 1e16

const floatText = (number: number): string => {
  if (!Number.isInteger(number)) return String(number)
  return Math.abs(number) < EXPONENT_FROM
    ? `${Object.is(number, -0) ? '-0' : number}.0`
    : number.toExponential()
}

export const textOf = (budget: Budget, value: Value): string => {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (value === null) return 'None'
  if (typeof value !== 'object') return ''
  if (isFloat(value)) return floatText(value[FLOAT])
  return isView(value) ? textOf(budget, value.plain()) : jsonText(budget, value)
}

/** Whether native serialisation gives the right text. Pays for the walk, which may meet one node many times. */
const isPlainJson = (budget: Budget, value: Value, depth: number): boolean => {
  if (typeof value !== 'object' || value === null) {
    return (
      typeof value !== 'bigint' &&
      typeof value !== 'function' &&
      typeof value !== 'symbol' &&
      value !== undefined
    )
  }
  charge(budget, 0.25)
  checkDataDepth(depth)
  if (FLOAT in value || isView(value)) return false
  if (Array.isArray(value)) {
    charge(budget, value.length / 8)
    return value.every((element) => isPlainJson(budget, element, depth + 1))
  }
  for (const key of Object.keys(value)) {
    charge(budget, 0.125)
    if (!isPlainJson(budget, (value as Mapping)[key], depth + 1)) return false
  }
  return true
}

interface Layout {
  readonly budget: Budget
  readonly indent: number
}

const enclose = (
  layout: Layout,
  open: string,
  parts: readonly string[],
  close: string,
  depth: number,
): string => {
  if (parts.length === 0) return open + close
  const margin = layout.indent === 0 ? '' : `\n${' '.repeat(layout.indent * (depth + 1))}`
  const end = layout.indent === 0 ? '' : `\n${' '.repeat(layout.indent * depth)}`
  let length = 0
  for (const part of parts) length += part.length + margin.length + 1
  reserveText(layout.budget, length)
  return open + margin + parts.join(`,${margin}`) + end + close
}

const serialise = (layout: Layout, value: Value, depth: number): string => {
  charge(layout.budget, 1)
  checkDataDepth(depth)
  if (typeof value === 'bigint') return `"${String(value)}"`
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return 'null'
  if (isFloat(value)) return floatText(value[FLOAT])
  if (isView(value)) return serialise(layout, value.plain(), depth + 1)
  if (Array.isArray(value)) {
    const parts = value.map((element) => serialise(layout, element, depth + 1))
    return enclose(layout, '[', parts, ']', depth)
  }
  const colon = layout.indent === 0 ? ':' : ': '
  const entries = Object.keys(value).map(
    (key) => JSON.stringify(key) + colon + serialise(layout, (value as Mapping)[key], depth + 1),
  )
  return enclose(layout, '{', entries, '}', depth)
}

const MAX_INDENT = 16

export const jsonText = (budget: Budget, value: Value, indent = 0): string => {
  const spaces = Math.min(Math.max(0, Math.trunc(indent)), MAX_INDENT)
  if (!isPlainJson(budget, value, 0)) return serialise({ budget, indent: spaces }, value, 0)
  // Native indenting stops at ten spaces.
  if (spaces > 10) return serialise({ budget, indent: spaces }, value, 0)
  const text = JSON.stringify(value, undefined, spaces)
  reserveText(budget, text.length)
  return text
}
