/**
 * The workload of a document as fields of a form.
 *
 * 1. One field for each key of `workload`, in the order of the document; its kind follows from the value.
 * 2. Directives stand in a comment on the line of the key: `# ui:secret`, `# ui:enum=[a, b]`, `# ui:credential=glob`,
 *    `# ui:description=text`. Only keys directly below `workload` have them; unknown ones are ignored.
 * 3. A text that cannot be read has no fields; it is not an error.
 */
import type { Json } from '../contract/json.ts'
import { createReport } from './report.ts'
import { loadYaml } from './yaml-load.ts'
import type { YamlEntry, YamlMap, YamlNode, YamlScalar } from './yaml-tree.ts'
import { toJson } from './yaml-tree.ts'

export type UiFieldKind = 'boolean' | 'integer' | 'number' | 'null' | 'object' | 'array' | 'string' | 'enum'

/** The names of its keys are those of the wire. */
export interface UiField {
  readonly name: string
  readonly kind: UiFieldKind
  readonly default: Json
  readonly description: string | null
  readonly secret: boolean
  readonly credential_glob: string | null
  readonly options: readonly string[] | null
  readonly children: readonly UiField[] | null
}

export interface UiSchema {
  readonly title: string | null
  readonly description: string | null
  readonly exposedInUi: boolean
  readonly fields: readonly UiField[]
}

const NOTHING: UiSchema = { title: null, description: null, exposedInUi: false, fields: [] }

export const uiSchemaOf = (text: string): UiSchema => {
  const yaml = loadYaml(text, createReport(text))
  if (!yaml.ok || yaml.root.kind !== 'map') return NOTHING
  const metadata = mapAt(yaml.root, 'metadata')
  const workload = mapAt(yaml.root, 'workload')
  return {
    title: textAt(metadata, 'name'),
    description: textAt(metadata, 'description'),
    exposedInUi: valueAt(metadata, 'exposed_in_ui') === true,
    fields: [...(workload?.entries ?? [])].map(([name, entry]) =>
      withDirectives(fieldOf(name, entry.value), directivesOf(text, entry)),
    ),
  }
}

const fieldOf = (name: string, node: YamlNode): UiField => ({
  name,
  kind: kindOf(node),
  default: isUnboundedNumber(node) ? null : toJson(node),
  description: null,
  secret: false,
  credential_glob: null,
  options: null,
  children: node.kind === 'map' ? [...node.entries].map(([key, entry]) => fieldOf(key, entry.value)) : null,
})

const kindOf = (node: YamlNode): UiFieldKind => {
  if (node.kind === 'map') return 'object'
  if (node.kind === 'list') return 'array'
  if (node.value === null) return 'null'
  if (typeof node.value === 'boolean') return 'boolean'
  if (isPlain(node, INTEGER)) return 'integer'
  return typeof node.value === 'number' || isUnboundedNumber(node) ? 'number' : 'string'
}

const INTEGER = /^(?:[-+]?\d+|0o[0-7]+|0x[\da-fA-F]+)$/
const UNBOUNDED = /^(?:[-+]?\.inf|\.nan)$/i

/** Written without quotes: numbers that a double cannot hold are text in the tree. */
const isPlain = (node: YamlScalar, pattern: RegExp): boolean =>
  node.style === 'plain' && pattern.test(node.text)

const isUnboundedNumber = (node: YamlNode): boolean => node.kind === 'scalar' && isPlain(node, UNBOUNDED)

interface Directives {
  readonly secret: boolean
  readonly credential: string | null
  readonly description: string | null
  readonly options: readonly string[] | null
}

const withDirectives = (
  field: UiField,
  { secret, credential, description, options }: Directives,
): UiField => ({
  ...field,
  kind: options === null ? field.kind : 'enum',
  description,
  secret,
  credential_glob: credential,
  options,
})

const KEY_LINE = /^ {2,}[A-Za-z_][\w-]*\s*:/
/** A comment begins after a blank. Its value ends before the next `#`. */
const DIRECTIVE = /\s#\s*ui:(\w+)(?:=([^#]*))?/g

const directivesOf = (text: string, entry: YamlEntry): Directives => {
  const given = new Map<string, string>()
  for (const [, name = '', value = ''] of commentOf(text, entry).matchAll(DIRECTIVE))
    given.set(name, unquoted(value.trim()))
  const choices = given.get('enum')
  return {
    secret: given.has('secret'),
    credential: given.get('credential') ?? null,
    description: given.get('description') ?? null,
    options: choices === undefined ? null : optionsOf(choices),
  }
}

/** What stands behind the value on the line of the key, so that a `#` inside the value is not taken for a comment. */
const commentOf = (text: string, { keyOffset, value }: YamlEntry): string => {
  const lineStart = text.lastIndexOf('\n', keyOffset - 1) + 1
  const lineBreak = text.indexOf('\n', keyOffset)
  const lineEnd = lineBreak === -1 ? text.length : lineBreak
  const key = KEY_LINE.exec(text.slice(lineStart, lineEnd))
  if (!key) return ''
  const afterKey = lineStart + key[0].length
  const isOnLine =
    value.kind === 'scalar' && value.text !== '' && value.end > afterKey && value.end <= lineEnd
  return text.slice(isOnLine ? value.end : afterKey, lineEnd)
}

const optionsOf = (value: string): readonly string[] => {
  const inner = value.startsWith('[') && value.endsWith(']') ? value.slice(1, -1).split(',') : [value]
  return inner.map((item) => unquoted(item.trim())).filter((item) => item !== '')
}

const unquoted = (text: string): string =>
  text.length >= 2 && /^["']/.test(text) && text.endsWith(text.charAt(0)) ? text.slice(1, -1) : text

const mapAt = (map: YamlMap, key: string): YamlMap | null => {
  const node = map.entries.get(key)?.value
  return node?.kind === 'map' ? node : null
}

const valueAt = (map: YamlMap | null, key: string): Json => {
  const node = map?.entries.get(key)?.value
  return node ? toJson(node) : null
}

const textAt = (map: YamlMap | null, key: string): string | null => {
  const value = valueAt(map, key)
  return typeof value === 'string' ? value : null
}
