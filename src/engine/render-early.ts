/** Renders a configuration except for the paths that are left to the worker. */
import type { Json } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { renderValue } from '../template/render.ts'
import type { Scope } from '../template/scope.ts'

type Path = readonly (string | number)[]

export const renderEarly = (value: Json, scope: Scope, late: readonly Path[]): Json => {
  if (late.length === 0) return renderValue(value, scope)
  if (late.some((path) => path.length === 0)) return value
  const below = (key: string | number): readonly Path[] =>
    late.filter((path) => path[0] === key).map((path) => path.slice(1))
  if (Array.isArray(value)) return value.map((item: Json, index) => renderEarly(item, scope, below(index)))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value).map((key) => [key, renderEarly(value[key] ?? null, scope, below(key))]),
  )
}
