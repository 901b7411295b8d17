/**
 * The YAML reader's nodes to the plain tree.
 *
 * 1. A key that appears twice in one mapping is an error at any depth; the first one stays.
 * 2. A plain `<<` merges: keys written beside it win, earlier merged mappings win over later ones.
 * 3. What aliases multiply is bounded, and so is nesting; both are refused before memory is spent.
 */
import { isAlias, isMap, isScalar, isSeq } from 'yaml'
import type { Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml'
import type { At, Report } from './report.ts'
import type { ScalarStyle, YamlEntry, YamlMap, YamlNode, YamlScalar } from './yaml-tree.ts'

/** Nodes that aliases may add to a document. */
const ALIAS_NODE_LIMIT = 100_000
const DEPTH_LIMIT = 200

export const place = (offset: number, path = ''): At => ({ offset, path, owner: '' })

export const convertYaml = (contents: unknown, text: string, report: Report): YamlNode =>
  createConverter(text, report)(contents, { path: '', depth: 0 })

/** Where a node is in the document. */
interface Position {
  readonly path: string
  readonly depth: number
}

type Convert = (node: unknown, position: Position) => YamlNode

interface Anchored {
  readonly node: YamlNode
  /** Number of nodes that one alias to it adds. */
  readonly size: number
}

const createConverter = (text: string, report: Report): Convert => {
  const anchors = new Map<string, Anchored>()
  const refuseOnce = createRefusals(report)
  let nodeCount = 0
  let aliasNodeCount = 0

  const resolveAlias = (name: string, offset: number, path: string): YamlNode => {
    const anchored = anchors.get(name)
    if (anchored === undefined) {
      report.error(
        'PARSE',
        place(offset, path),
        `the alias *${name} has no finished anchor &${name} before it`,
      )
      return nullAt(offset)
    }
    nodeCount += anchored.size
    aliasNodeCount += anchored.size
    if (aliasNodeCount <= ALIAS_NODE_LIMIT) return anchored.node
    refuseOnce(place(offset, path), `aliases add more than ${ALIAS_NODE_LIMIT} nodes; write the data out`)
    return nullAt(offset)
  }

  const convertItems = (list: YAMLSeq, { path, depth }: Position): readonly YamlNode[] =>
    list.items.map((item, index) => convert(item, { path: `${path}[${index}]`, depth: depth + 1 }))

  const convert: Convert = (node, position) => {
    const before = nodeCount
    nodeCount += 1
    const offset = offsetOf(node)
    if (position.depth > DEPTH_LIMIT) {
      refuseOnce(place(offset, position.path), `the document is nested more than ${DEPTH_LIMIT} levels deep`)
      return nullAt(offset)
    }
    if (isAlias(node)) return resolveAlias(node.source, offset, position.path)
    const converted: YamlNode = isMap(node)
      ? convertMap(node, position, { text, report, convert })
      : isSeq(node)
        ? { kind: 'list', items: convertItems(node, position), offset }
        : convertScalar(node, offset)
    const anchor = isMap(node) || isSeq(node) || isScalar(node) ? node.anchor : undefined
    if (anchor !== undefined) anchors.set(anchor, { node: converted, size: nodeCount - before })
    return converted
  }
  return convert
}

/** A limit that is passed once is passed at every node after it; the first place says enough. */
const createRefusals = (report: Report): ((at: At, message: string) => void) => {
  const refused = new Set<string>()
  return (at, message) => {
    if (!refused.has(message)) report.error('PARSE', at, message)
    refused.add(message)
  }
}

interface Tools {
  readonly text: string
  readonly report: Report
  readonly convert: Convert
}

interface MapEntries {
  /** Null in the slot of `<<`, so that merged keys appear where the author wrote it. */
  readonly own: Map<string, YamlEntry | null>
  readonly merged: YamlMap[]
}

const MERGE_KEY = '<<'

const convertMap = (map: YAMLMap, position: Position, tools: Tools): YamlNode => {
  const offset = offsetOf(map)
  // A value that starts with an unquoted template looks like a mapping whose key is a mapping.
  if (tools.text.startsWith('{{', offset) && map.items.some((pair) => isMap(pair.key))) {
    const message = `${at(position.path)}: a template needs quotes, otherwise YAML reads a mapping; write "{{ … }}"`
    tools.report.error('TEMPLATE_NOT_QUOTED', place(offset, position.path), message)
    return nullAt(offset)
  }
  const entries: MapEntries = { own: new Map(), merged: [] }
  for (const pair of map.items) addPair(entries, pair, { ...position, offset }, tools)
  return { kind: 'map', entries: mergedEntries(entries), offset }
}

const addPair = (entries: MapEntries, pair: Pair, map: Position & { offset: number }, tools: Tools): void => {
  const { report } = tools
  const keyOffset = offsetOf(pair.key, map.offset)
  const key = keyText(pair.key, map, tools)
  if (key === null) {
    report.error('PARSE', place(keyOffset, map.path), `${at(map.path)}: a mapping key must be plain text`)
    return
  }
  const path = map.path === '' ? key : `${map.path}.${key}`
  if (entries.own.has(key)) {
    const message = `${at(map.path)}: the key '${key}' appears twice in one mapping; remove one`
    report.error('DUPLICATE_KEY', place(keyOffset, path), message)
    return
  }
  const isBare = pair.value === null
  const value = isBare
    ? nullAt(keyOffset + key.length)
    : tools.convert(pair.value, { path, depth: map.depth + 1 })
  if (key !== MERGE_KEY || !isScalar(pair.key) || pair.key.type !== 'PLAIN') {
    entries.own.set(key, { keyOffset, value })
    return
  }
  entries.own.set(key, null)
  const sources = value.kind === 'list' ? value.items : [value]
  for (const source of sources) {
    if (source.kind === 'map') entries.merged.push(source)
    else
      report.error('PARSE', place(source.offset, path), `${at(path)} takes a mapping or a list of mappings`)
  }
}

const at = (path: string): string => (path === '' ? 'the document' : `'${path}'`)

/** Text of a key; null when it is a mapping, a list or nothing. */
const keyText = (key: unknown, map: Position, tools: Tools): string | null => {
  if (!isScalar(key) && !isAlias(key)) return null
  const node = tools.convert(key, { path: map.path, depth: map.depth + 1 })
  return node.kind === 'scalar' && node.value !== null ? node.text : null
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
