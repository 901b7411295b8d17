/**
 * Walks the YAML tree with a path, an owner and a place at hand, so that each complaint can name the step and
 * the key. Reading functions report what is wrong and answer null (or empty); they never throw.
 *
 * 1. A key whose value is null counts as not given.
 * 2. Any scalar is text where text is expected, exactly as written.
 */
import type { JsonObject } from '../contract/json.ts'
import type { At, Report } from './report.ts'
import { didYouMean } from './suggest.ts'
import { isNull, mapToJson } from './yaml-tree.ts'
import type { YamlMap, YamlNode } from './yaml-tree.ts'

/** One node of the document together with where it is. */
export interface Field extends At {
  readonly node: YamlNode
  /** Path inside its owner, for messages: `next.arcs[0].when`. */
  readonly label: string
}

/** A field known to be a mapping. */
export interface MapField extends Field {
  readonly node: YamlMap
}

export const rootField = (node: YamlNode): Field => ({
  node,
  offset: node.offset,
  path: '',
  label: '',
  owner: '',
})

/** The same node seen as the start of something with a name of its own. */
export const ownedBy = <F extends Field>(field: F, owner: string): F => ({ ...field, owner, label: '' })

/** The field of a key; null when the key is absent or null. */
export const child = (field: Field, key: string): Field | null => {
  if (field.node.kind !== 'map') return null
  const entry = field.node.entries.get(key)
  return entry === undefined || isNull(entry.value) ? null : below(field, key, entry.value)
}

/** All entries of a mapping, null values included. */
export const children = (field: MapField): readonly (readonly [string, Field])[] =>
  [...field.node.entries].map(([key, entry]) => [key, below(field, key, entry.value)] as const)

export const items = (field: Field): readonly Field[] =>
  field.node.kind !== 'list'
    ? []
    : field.node.items.map((node, index) => ({
        ...field,
        node,
        offset: node.offset,
        path: `${field.path}[${index}]`,
        label: `${field.label}[${index}]`,
      }))

const below = (field: Field, key: string, node: YamlNode): Field => ({
  node,
  offset: node.offset,
  owner: field.owner,
  path: field.path === '' ? key : `${field.path}.${key}`,
  label: field.label === '' ? key : `${field.label}.${key}`,
})

/** True when the key is written, even with a null value. */
export const isWritten = (field: Field, key: string): boolean =>
  field.node.kind === 'map' && field.node.entries.has(key)

/** The place of the key itself rather than of its value. */
export const keyAt = (field: Field, key: string): At => {
  const entry = field.node.kind === 'map' ? field.node.entries.get(key) : undefined
  const path = field.path === '' ? key : `${field.path}.${key}`
  return { offset: entry?.keyOffset ?? field.offset, path, owner: field.owner }
}

export const isMapField = (field: Field): field is MapField => field.node.kind === 'map'

export const asMap = (field: Field | null, report: Report, fix = ''): MapField | null => {
  if (field === null) return null
  if (isMapField(field)) return field
  report.error('PARSE', field, `${subject(field)} must be a mapping, not ${shapeOf(field.node)}${fix}`)
  return null
}

export const asList = (field: Field | null, report: Report, fix = ''): readonly Field[] => {
  if (field === null) return []
  if (field.node.kind === 'list') return items(field)
  report.error('PARSE', field, `${subject(field)} must be a list, not ${shapeOf(field.node)}${fix}`)
  return []
}

export const asText = (field: Field | null, report: Report): string | null => {
  if (field === null) return null
  if (field.node.kind === 'scalar') return field.node.text
  report.error('PARSE', field, `${subject(field)} must be text, not ${shapeOf(field.node)}`)
  return null
}

/** A mapping as plain data; empty when not given. */
export const asObject = (field: Field | null, report: Report): JsonObject => {
  const map = asMap(field, report)
  return map === null ? {} : mapToJson(map.node)
}

/** One word of a closed list; anything else is an error that names the list. */
export const asWord = <W extends string>(
  field: Field | null,
  words: readonly W[],
  report: Report,
  code = 'PARSE',
): W | null => {
  const text = asText(field, report)
  if (field === null || text === null) return null
  const word = words.find((each) => each === text)
  if (word !== undefined) return word
  report.error(
    code,
    field,
    `${subject(field)} is '${text}' but must be one of ${words.join(', ')}.${didYouMean(text, words)}`,
  )
  return null
}

/** Warns about keys outside the list. `seen` has keys that were dealt with elsewhere. */
export const warnUnknownKeys = (
  field: MapField,
  known: readonly string[],
  report: Report,
  seen: ReadonlySet<string> = new Set(),
): void => {
  for (const key of field.node.entries.keys()) {
    if (known.includes(key) || seen.has(key)) continue
    const within = field.label === '' ? '' : ` in ${field.label}`
    report.warn(
      'unknown-key',
      keyAt(field, key),
      `the key '${key}'${within} has no effect.${didYouMean(key, known)}`,
    )
  }
}

/** The field's name in a message. */
export const subject = (field: Field): string => (field.label === '' ? 'it' : `'${field.label}'`)

export const shapeOf = (node: YamlNode): string => {
  if (node.kind === 'list') return 'a list'
  if (node.kind === 'map') return 'a mapping'
  if (node.value === null) return 'empty'
  return typeof node.value === 'string' ? 'text' : `a ${typeof node.value}`
}
