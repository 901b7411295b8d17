/**
 * `libs` in the forms playbooks use, as one: alias to what is imported under it. And the packages that a call wants installed.
 *
 * 1. `{pd: pandas}` · `{pd: {from: m, import: n}}` · `[pandas, "numpy as np", {pd: pandas}]` · `"pandas, numpy as np"`.
 * 2. A library may name its package where that has another name or a version: `{yaml: {import: yaml, package: pyyaml==6.0.2}}`.
 *    Packages are installed only when they are named so, or in `deps.packages`: a typing mistake in an import must not
 *    become a program of a stranger.
 */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'
import { textOf } from '../coerce.ts'

const fromWord = (text: string): [string, Json] => {
  const [path = '', alias] = text.trim().split(/\s+as\s+/)
  // `import a.b` makes `a` known in Python, but a name with a dot is no name.
  return [
    alias ?? path.split('.')[0] ?? path,
    alias === undefined && path.includes('.') ? (path.split('.')[0] ?? path) : path,
  ]
}

const fromItem = (item: Json): [string, Json][] => {
  if (typeof item === 'string') return [fromWord(item)]
  if (isObject(item)) return Object.entries(item)
  throw configFailure('An entry of libs must be the name of a module, or {alias: module}')
}

export const librariesOf = (config: JsonObject): JsonObject => {
  const { libs } = config
  if (libs === undefined || libs === null || libs === '') return {}
  if (isObject(libs)) return libs
  const items = Array.isArray(libs)
    ? (libs as readonly Json[])
    : typeof libs === 'string'
      ? libs.split(',')
      : null
  if (items === null) throw configFailure('libs must be a mapping of aliases to modules')
  return Object.fromEntries(items.flatMap(fromItem))
}

const packageText = (item: Json): string => {
  const text = typeof item === 'string' ? item.trim() : ''
  if (text !== '' && !text.startsWith('-') && !/[\r\n\0]/.test(text)) return text
  throw configFailure(
    `deps.packages must be names such as "requests" or "pandas==2.2", not ${JSON.stringify(item)}`,
  )
}

/** Sorted, each once. */
export const packagesOf = (config: JsonObject): readonly string[] => {
  const dependencies = isObject(config['deps']) ? config['deps'] : {}
  const listed = dependencies['packages'] ?? []
  const items: readonly Json[] = Array.isArray(listed) ? listed : (textOf(listed) ?? '').split(/[,\n]/)
  const named = Object.values(librariesOf(config)).flatMap((library) =>
    isObject(library) && library['package'] !== undefined ? [library['package']] : [],
  )
  const given = [...items, ...named].filter((item) => item !== '' && item !== null)
  return [...new Set(given.map(packageText))].sort()
}
