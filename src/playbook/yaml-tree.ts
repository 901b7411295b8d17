/**
 * The YAML document as a plain tree with places. Aliases and merge keys are already applied, keys are text and
 * unique, and scalars keep the text they were written with beside their value.
 *
 * 1. Values are JSON: an integer that a double cannot hold, and `.inf` / `.nan`, are text.
 * 2. Mappings keep the order of the document.
 * 3. A key `__proto__` is data like any other.
 */
import type { Json, JsonObject } from '../contract/json.ts'

export type YamlNode = YamlScalar | YamlList | YamlMap

export type ScalarStyle = 'plain' | 'single' | 'double' | 'literal' | 'folded'

export interface YamlScalar {
  readonly kind: 'scalar'
  readonly value: null | boolean | number | string
  /** The text before it was read as a number, boolean or null: `1.10` stays `1.10`. */
  readonly text: string
  readonly style: ScalarStyle
  readonly offset: number
  /** Offset just after the scalar in the source. */
  readonly end: number
}

interface YamlList {
  readonly kind: 'list'
  readonly items: readonly YamlNode[]
  readonly offset: number
}

export interface YamlMap {
  readonly kind: 'map'
  readonly entries: ReadonlyMap<string, YamlEntry>
  readonly offset: number
}

export interface YamlEntry {
  readonly keyOffset: number
  readonly value: YamlNode
}

export const isNull = (node: YamlNode): boolean => node.kind === 'scalar' && node.value === null

export const toJson = (node: YamlNode): Json => {
  if (node.kind === 'scalar') return node.value
  if (node.kind === 'list') return node.items.map(toJson)
  return mapToJson(node)
}

export const mapToJson = (map: YamlMap): JsonObject =>
  objectOf([...map.entries].map(([key, entry]) => [key, toJson(entry.value)]))

/** An object of these entries in this order, where `__proto__` is an ordinary own key. */
export const objectOf = (entries: Iterable<readonly [string, Json]>): JsonObject => {
  const object: Record<string, Json> = {}
  for (const [key, value] of entries) {
    if (key === '__proto__') {
      Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true })
    } else {
      object[key] = value
    }
  }
  return object
}
