/**
 * The tool block as the rest of the parser sees it: one flat mapping, whatever its author nested.
 *
 * 1. Parameters below `spec` (other than `policy` and `result`) move up, unless the block has its own.
 * 2. `endpoint` of an http tool is its `url`; `credential` is `auth`.
 * 3. Text parameters given as a number or boolean are text, as written.
 */
import type { Json, JsonObject } from '../contract/json.ts'
import { parseDuration } from './duration.ts'
import type { MapField } from './reader.ts'
import { isNull, objectOf, toJson } from './yaml-tree.ts'
import type { YamlEntry, YamlMap, YamlNode } from './yaml-tree.ts'

/** Keys of `spec` that are about the task, not parameters of the tool. */
const SPEC_OWN = ['policy', 'result']

const RENAMED: readonly (readonly [kind: string | null, from: string, to: string])[] = [
  ['http', 'endpoint', 'url'],
  [null, 'credential', 'auth'],
]

export const flattenTool = (tool: MapField): MapField => {
  const entries = new Map(tool.node.entries)
  const spec = entries.get('spec')
  if (spec?.value.kind === 'map') hoist(entries, spec, spec.value)
  const kind = entries.get('kind')?.value
  const kindText = kind?.kind === 'scalar' ? kind.text : ''
  for (const [onlyKind, from, to] of RENAMED) {
    const entry = entries.get(from)
    if (entry === undefined || entries.has(to) || (onlyKind !== null && onlyKind !== kindText)) continue
    entries.delete(from)
    entries.set(to, entry)
  }
  return { ...tool, node: { ...tool.node, entries } }
}

const hoist = (entries: Map<string, YamlEntry>, spec: YamlEntry, block: YamlMap): void => {
  const kept = new Map<string, YamlEntry>()
  for (const [key, entry] of block.entries) {
    if (SPEC_OWN.includes(key)) kept.set(key, entry)
    else if (!entries.has(key)) entries.set(key, entry)
  }
  if (kept.size === 0) entries.delete('spec')
  else entries.set('spec', { ...spec, value: { ...block, entries: kept } })
}

const TEXT_KEYS = new Set([
  'auth',
  'code',
  'url',
  'method',
  'query',
  'command',
  'connection',
  'path',
  'catalog_id',
  'return_step',
  'result_step',
])
/** Mappings and lists of text. */
const TEXTS_KEYS = new Set(['headers', 'command', 'commands', 'cmds'])

/** The parameters of the tool as data, without the keys given. */
export const configOf = (tool: MapField, without: ReadonlySet<string>): JsonObject => {
  const kind = tool.node.entries.get('kind')?.value
  const isArgv = kind?.kind === 'scalar' && kind.text === 'container'
  const entries: [string, Json][] = []
  for (const [key, entry] of tool.node.entries) {
    if (without.has(key)) continue
    entries.push([key, key === 'args' && isArgv ? textsOf(entry.value) : parameterOf(key, entry.value)])
  }
  return objectOf(entries)
}

const parameterOf = (key: string, node: YamlNode): Json => {
  if (key === 'timeout') return secondsOf(node)
  if (node.kind === 'scalar') return TEXT_KEYS.has(key) ? textOf(node) : node.value
  return TEXTS_KEYS.has(key) ? textsOf(node) : toJson(node)
}

const textOf = (node: YamlNode): Json => (node.kind === 'scalar' && !isNull(node) ? node.text : toJson(node))

const textsOf = (node: YamlNode): Json => {
  if (node.kind === 'list') return node.items.map(textOf)
  if (node.kind === 'map')
    return objectOf([...node.entries].map(([key, entry]) => [key, textOf(entry.value)]))
  return textOf(node)
}

/** Tools take seconds; `5m` is accepted for them too. */
const secondsOf = (node: YamlNode): Json => {
  if (node.kind !== 'scalar' || typeof node.value !== 'string') return toJson(node)
  const milliseconds = parseDuration(node.value)
  return milliseconds === null ? node.value : milliseconds / 1000
}
