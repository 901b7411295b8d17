/**
 * YAML text to one tree.
 *
 * 1. YAML 1.2 core schema: `yes` and `on` are text, only `true` and `false` are booleans.
 * 2. Exactly one document. Text that is not YAML gives no tree at all.
 * 3. A key that appears twice in one mapping is an error at any depth; the first one stays.
 * 4. A plain `<<` merges: keys written beside it win, earlier merged mappings win over later ones.
 * 5. What aliases multiply is bounded, and so is nesting; both are refused before memory is spent.
 */
import { isAlias, isMap, isScalar, isSeq, parseAllDocuments } from 'yaml'
import type { Document, Pair, Scalar, YAMLMap } from 'yaml'
import type { At, Report } from './report.ts'
import type { ScalarStyle, YamlEntry, YamlMap, YamlNode, YamlScalar } from './yaml-tree.ts'

/** Nodes that aliases may add to a document. */
const ALIAS_NODE_LIMIT = 100_000
const DEPTH_LIMIT = 200
/** One stray character can make the rest of a file unreadable; beyond this the list only repeats itself. */
const SYNTAX_ERRORS_SHOWN = 10

export type YamlResult =
  | { readonly ok: true; readonly root: YamlNode }
  | { readonly ok: false; readonly kind: 'yaml' | 'invalid' }

export const loadYaml = (text: string, report: Report): YamlResult => {
  const documents = composeDocuments(text, report)
  if (documents === null) return { ok: false, kind: 'yaml' }
  const [document, second] = documents
  const broken = documents.flatMap((each) => each.errors)
  for (const error of broken.slice(0, SYNTAX_ERRORS_SHOWN)) {
    const offset = error.pos[0]
    report.error('PARSE', place(offset), `The text is not valid YAML: ${error.message}${templateHint(text, offset)}`)
  }
  if (broken.length > 0) return { ok: false, kind: 'yaml' }
  if (document === undefined || document.contents === null) {
    report.error('PARSE', place(0), 'The document is empty; a playbook starts with apiVersion: noetl.io/v2')
    return { ok: false, kind: 'invalid' }
  }
  if (second !== undefined) {
    const message = 'The text holds more than one YAML document; register each playbook by itself'
    report.error('PARSE', place(second.range[0]), message)
    return { ok: false, kind: 'invalid' }
  }
  for (const warning of document.warnings) report.warn('yaml', place(warning.pos[0]), warning.message)
  return { ok: true, root: createConverter(text, report)(document.contents, 0) }
}

const place = (offset: number): At => ({ offset, path: '', owner: '' })

const composeDocuments = (text: string, report: Report): readonly Document.Parsed[] | null => {
  try {
    const options = { schema: 'core', intAsBigInt: true, uniqueKeys: false, prettyErrors: false } as const
    const documents = parseAllDocuments(text, { ...options, logLevel: 'silent' })
    return Array.isArray(documents) ? documents : []
  } catch (error) {
    // The YAML reader recurses, so absurd nesting ends in a RangeError instead of a diagnosis.
    const reason = error instanceof RangeError ? 'it is nested too deeply' : String(error)
    report.error('PARSE', place(0), `The text cannot be read as YAML: ${reason}`)
    return null
  }
}

const templateHint = (text: string, offset: number): string => {
  const lineStart = text.lastIndexOf('\n', Math.max(offset - 1, 0)) + 1
  const lineEnd = text.indexOf('\n', offset)
  const line = text.slice(lineStart, lineEnd === -1 ? text.length : lineEnd)
  return /(?:[:-]\s+|^\s*)\{[{%]/.test(line) ? '. A value that starts with a template needs quotes: "{{ … }}"' : ''
}

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
    report.error('PARSE', place(offset), `Aliases expand to more than ${ALIAS_NODE_LIMIT} nodes; write the data out`)
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
    report.error('DUPLICATE_KEY', place(keyOffset), `The key '${key}' appears twice in this mapping; remove one`)
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
