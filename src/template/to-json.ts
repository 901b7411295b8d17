/**
 * The way out: values of an expression to plain JSON.
 *
 * 1. What is JSON already leaves as the same object, without copying.
 * 2. Undefined is null, a float is a number, an integer that is not safe is a text of digits, a view is what it is as
 *    a whole.
 */
import type { Json } from '../contract/json.ts'
import { charge, checkDataDepth, type Budget } from './limits.ts'
import { isView } from './scope.ts'
import { FLOAT, isFloat, setMember, type Mapping, type Value } from './values.ts'

const listToJson = (budget: Budget, list: readonly Value[], depth: number): Json => {
  let copy: Json[] | undefined
  for (let index = 0; index < list.length; index += 1) {
    const before = list[index]
    const after = deepToJson(budget, before, depth)
    if (copy === undefined && after !== before) copy = list.slice(0, index) as Json[]
    copy?.push(after)
  }
  return copy ?? (list as readonly Json[])
}

const mappingToJson = (budget: Budget, mapping: Mapping, depth: number): Json => {
  const entries = Object.keys(mapping).map((key) => [key, deepToJson(budget, mapping[key], depth)] as const)
  // Symbols mark namespaces; they must not leave.
  const isSame = entries.every(([key, after]) => after === mapping[key])
  if (isSame && Object.getOwnPropertySymbols(mapping).length === 0) return mapping as Json
  const copy: Record<string, Json> = {}
  for (const [key, after] of entries) setMember(copy, key, after)
  return copy
}

const deepToJson = (budget: Budget, value: Value, depth: number): Json => {
  charge(budget, 0.25)
  checkDataDepth(depth)
  if (typeof value !== 'object' || value === null) return scalarToJson(value)
  if (isFloat(value)) return value[FLOAT]
  if (isView(value)) return value.plain()
  return Array.isArray(value)
    ? listToJson(budget, value, depth + 1)
    : mappingToJson(budget, value as Mapping, depth + 1)
}

const scalarToJson = (value: Value): Json => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return typeof value === 'bigint' ? String(value) : null
}

/** `isBuilt`: the expression may have built the container itself, so what is inside it must be looked at. */
export const toJson = (budget: Budget, value: Value, isBuilt: boolean): Json => {
  if (typeof value !== 'object' || value === null) return scalarToJson(value)
  if (isBuilt) return deepToJson(budget, value, 0)
  if (isView(value)) return value.plain()
  return isFloat(value) ? value[FLOAT] : (value as Json)
}
