/**
 * The YAML reader's nodes to the plain tree.
 *
 * 1. A key that appears twice in one mapping is an error at any depth; the first one stays.
 * 2. A plain `<<` merges: keys written beside it win, earlier merged mappings win over later ones.
 * 3. What aliases multiply is bounded, and so is nesting; both are refused before memory is spent.
 */
import { isAlias, isMap, isScalar, isSeq } from 'yaml'
import type { Pair, Scalar, YAMLMap } from 'yaml'
import type { At, Report } from './report.ts'
import type { ScalarStyle, YamlEntry, YamlMap, YamlNode, YamlScalar } from './yaml-tree.ts'

/** Nodes that aliases may add to a document. */
const ALIAS_NODE_LIMIT = 100_000
const DEPTH_LIMIT = 200

export const place = (offset: number): At => ({ offset, path: '', owner: '' })

export const convertYaml = (contents: unknown, text: string, report: Report): YamlNode =>
  createConverter(text, report)(contents, 0)

type Convert = (node: unknown, depth: number) => YamlNode

interface Anchored {
  readonly node: YamlNode
  /** Number of nodes that one alias to it adds. */
  readonly size: number
}

const createConverter = (text: string, report: Report): Convert => {
  const anchors = new Map<string, Anchored>()
  let nodeCount = 0
  let aliasNodeCount = 0

  const resolveAlias = (name: string, offset: number): YamlNode => {
    const anchored = anchors.get(name)
    if (anchored === undefined) {
      report.error('PARSE', place(offset), `Alias *${name} has no finished anchor &${name} before it`)
      return nullAt(offset)
    }
    nodeCount += anchored.size
    aliasNodeCount += anchored.size
    if (aliasNodeCount <= ALIAS_NODE_LIMIT) return anchored.node
    report.error(
      'PARSE',
      place(offset),
      `Aliases expand to more than ${ALIAS_NODE_LIMIT} nodes; write the data out`,
    )
    return nullAt(offset)
  }

  const convertMap = (map: YAMLMap, offset: number, depth: number): YamlMap => {
    const entries: MapEntries = { own: new Map(), merged: [] }
    for (const pair of map.items) {
      addPair(entries, pair, offset, { text, report, convert: (node) => convert(node, depth + 1) })
    }
    return { kind: 'map', entries: mergedEntries(entries), offset }
  }

  const convert: Convert = (node, depth) => {
    const before = nodeCount
    nodeCount += 1
    const offset = offsetOf(node)
    if (depth > DEPTH_LIMIT) {
      report.error('PARSE', place(offset), `The document is nested more than ${DEPTH_LIMIT} levels deep`)
      return nullAt(offset)
    }
    if (isAlias(node)) return resolveAlias(node.source, offset)
    const converted = isMap(node)
      ? convertMap(node, offset, depth)
      : isSeq(node)
        ? { kind: 'list' as const, items: node.items.map((item) => convert(item, depth + 1)), offset }
        : convertScalar(node, offset)
    const anchor = isMap(node) || isSeq(node) || isScalar(node) ? node.anchor : undefined
    if (anchor !== undefined) anchors.set(anchor, { node: converted, size: nodeCount - before })
    return converted
  }
  return convert
}

interface MapEntries {
  readonly own: Map<string, YamlEntry | null>
  readonly merged: YamlMap[]
}

interface PairTools {
  readonly text: string
  readonly report: Report
  readonly convert: (node: unknown) => YamlNode
}

/** The slot of `<<` in the entries, so that merged keys appear where the author wrote it. */
const MERGE_SLOT = '<<'

const addPair = (entries: MapEntries, pair: Pair, mapOffset: number, tools: PairTools): void => {
  const { report } = tools
  const keyOffset = offsetOf(pair.key, mapOffset)
  const key = keyText(pair.key, tools)
  if (key === null) {
    const template = tools.text.startsWith('{{', mapOffset)
    const message = template
      ? 'A template needs quotes, otherwise YAML reads a mapping: write "{{ … }}"'
      : 'A mapping key must be plain text'
    report.error(template ? 'TEMPLATE_NOT_QUOTED' : 'PARSE', place(template ? mapOffset : keyOffset), message)
    return
  }
  if (entries.own.has(key)) {
    report.error(
      'DUPLICATE_KEY',
      place(keyOffset),
      `The key '${key}' appears twice in this mapping; remove one`,
    )
    return
  }
  const value = pair.value === null ? nullAt(keyOffset + key.length) : tools.convert(pair.value)
  if (key !== MERGE_SLOT || !isScalar(pair.key) || pair.key.type !== 'PLAIN') {
    entries.own.set(key, { keyOffset, value })
    return
  }
  entries.own.set(key, null)
  const sources = value.kind === 'list' ? value.items : [value]
  for (const source of sources) {
    if (source.kind === 'map') entries.merged.push(source)
    else report.error('PARSE', place(source.offset), 'The merge key << takes a mapping or a list of mappings')
  }
}

/** Text of a key; null when it is a mapping, a list or nothing. */
const keyText = (key: unknown, tools: PairTools): string | null => {
  const node = isAlias(key) ? tools.convert(key) : key
  if (isScalar(node)) return node.value === null ? null : sourceText(node)
  if (typeof node === 'object' && node !== null && 'kind' in node && node.kind === 'scalar') {
    return (node as YamlScalar).text
  }
  return null
}

const mergedEntries = (entries: MapEntries): ReadonlyMap<string, YamlEntry> => {
  const result = new Map<string, YamlEntry>()
  for (const [key, entry] of entries.own) {
    if (entry !== null) {
      result.set(key, entry)
      continue
    }
    for (const source of entries.merged) {
      for (const [name, inherited] of source.entries) {
        if (!result.has(name)) result.set(name, entries.own.get(name) ?? inherited)
      }
    }
  }
  return result
}

const convertScalar = (node: unknown, offset: number): YamlScalar => {
  if (!isScalar(node)) return nullAt(offset)
  const text = sourceText(node)
  const end = node.range?.[1] ?? offset
  return { kind: 'scalar', value: scalarValue(node.value, text), text, style: styleOf(node), offset, end }
}

const scalarValue = (value: unknown, text: string): YamlScalar['value'] => {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value.toString()
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : text
  if (typeof value === 'boolean' || value === null) return value
  return typeof value === 'string' ? value : text
}

const sourceText = (node: Scalar): string => node.source ?? String(node.value)

const STYLES: Readonly<Record<string, ScalarStyle>> = {
  QUOTE_SINGLE: 'single',
  QUOTE_DOUBLE: 'double',
  BLOCK_LITERAL: 'literal',
  BLOCK_FOLDED: 'folded',
}

const styleOf = (node: Scalar): ScalarStyle => STYLES[node.type ?? ''] ?? 'plain'

const nullAt = (offset: number): YamlScalar => ({
  kind: 'scalar',
  value: null,
  text: '',
  style: 'plain',
  offset,
  end: offset,
})

const offsetOf = (node: unknown, otherwise = 0): number => {
  if (!isMap(node) && !isSeq(node) && !isScalar(node) && !isAlias(node)) return otherwise
  return node.range?.[0] ?? otherwise
}
