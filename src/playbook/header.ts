/** Everything of the document but its steps: versions, metadata, workload, keychain. */
import type { Json, JsonObject } from '../contract/json.ts'
import type { ReadContext } from './context.ts'
import { asList, asMap, asText, child, children, shapeOf, subject } from './reader.ts'
import type { Field, MapField } from './reader.ts'
import type { Report } from './report.ts'
import { isNull, mapToJson, objectOf, toJson } from './yaml-tree.ts'
import type { YamlNode } from './yaml-tree.ts'

export const readVersions = (document: MapField, report: Report): void => {
  const version = required(document, 'apiVersion', 'apiVersion: noetl.io/v2', report)
  if (version?.text === 'noetl.io/v10') {
    report.warn('api-version', version.field, "'apiVersion' noetl.io/v10 is read as noetl.io/v2")
  } else if (version !== null && version.text !== 'noetl.io/v2') {
    report.error(
      'API_VERSION',
      version.field,
      `Unsupported API version: ${version.text}. Expected noetl.io/v2`,
    )
  }
  const kind = required(document, 'kind', 'kind: Playbook', report)
  if (kind !== null && kind.text !== 'Playbook') {
    report.error('KIND', kind.field, `Invalid kind: ${kind.text}. Expected Playbook`)
  }
}

const required = (
  document: MapField,
  key: string,
  example: string,
  report: Report,
): { readonly field: Field; readonly text: string } | null => {
  const field = child(document, key)
  if (field === null) report.error('PARSE', document, `The playbook has no '${key}'; add ${example}`)
  const text = asText(field, report)
  return field === null || text === null ? null : { field, text }
}

export interface Identity {
  readonly name: string
  readonly path: string
  readonly metadata: JsonObject
}

const TEXT_KEYS = new Set(['name', 'path', 'description', 'version'])

export const readMetadata = (document: MapField, report: Report): Identity => {
  const field = child(document, 'metadata')
  if (field === null)
    report.error('PARSE', document, "The playbook has no 'metadata'; add metadata: {name: …}")
  const metadata = asMap(field, report)
  if (metadata === null) return { name: '', path: '', metadata: {} }
  const name = asText(child(metadata, 'name'), report)?.trim() ?? ''
  if (name === '') {
    report.error(
      'PARSE',
      child(metadata, 'name') ?? metadata,
      "'metadata' has no 'name'; give the playbook a name",
    )
  }
  const path = asText(child(metadata, 'path'), report)?.trim() ?? ''
  const values = children(metadata).map(([key, entry]): [string, Json] => [
    key,
    metadataValue(key, entry.node),
  ])
  return { name, path: path === '' ? name : path, metadata: objectOf(values) }
}

const metadataValue = (key: string, node: YamlNode): Json => {
  if (TEXT_KEYS.has(key)) return textOrJson(node)
  if (key !== 'labels' || node.kind !== 'map') return toJson(node)
  return objectOf([...node.entries].map(([label, entry]) => [label, textOrJson(entry.value)]))
}

const textOrJson = (node: YamlNode): Json =>
  node.kind === 'scalar' && !isNull(node) ? node.text : toJson(node)

export const readWorkload = (document: MapField, context: ReadContext): JsonObject => {
  const field = child(document, 'workload')
  if (field === null) return {}
  if (field.node.kind !== 'map') {
    const message = `'workload' is ${shapeOf(field.node)} and defines no variables; write a mapping`
    context.report.warn('workload-shape', field, message)
    return {}
  }
  // A request may replace a default before it is ever rendered, so a bad one is not fatal by itself.
  context.templates.verbatim(field)
  for (const key of field.node.entries.keys()) context.defined.add(key)
  return mapToJson(field.node)
}

export const readKeychain = (document: MapField, report: Report): readonly JsonObject[] => {
  const names = new Set<string>()
  const list = asList(child(document, 'keychain'), report, '; write a list of {name, kind, …}')
  return list.flatMap((item) => {
    const entry = asMap(item, report)
    if (entry === null) return []
    const name = asText(child(entry, 'name'), report)
    if (name === null) {
      report.error(
        'PARSE',
        entry,
        `${subject(entry)} has no 'name'; the name is how auth and templates refer to it`,
      )
      return []
    }
    if (names.has(name)) {
      const message = `the keychain defines '${name}' twice; the first one counts`
      report.warn('duplicate-keychain', child(entry, 'name') ?? entry, message)
    }
    names.add(name)
    return [keychainEntry(entry, report)]
  })
}

const KEYCHAIN_TEXT = new Set([
  'name',
  'kind',
  'type',
  'provider',
  'auth',
  'credential',
  'token_type',
  'scope',
  'region',
  'residency',
])

const keychainEntry = (entry: MapField, report: Report): JsonObject => {
  const residency = child(entry, 'residency')
  const word = asText(residency, report)
  if (residency !== null && word !== null && !['none', 'advisory', 'strict'].includes(word)) {
    report.error(
      'PARSE',
      residency,
      `${subject(residency)} is '${word}' but must be one of none, advisory, strict`,
    )
  }
  return objectOf(
    children(entry).map(([key, field]): [string, Json] => {
      if (key === 'auth' && field.node.kind !== 'scalar') asText(field, report)
      if (KEYCHAIN_TEXT.has(key)) return [key, textOrJson(field.node)]
      if (key !== 'map' || field.node.kind !== 'map') return [key, toJson(field.node)]
      return [key, objectOf([...field.node.entries].map(([name, path]) => [name, textOrJson(path.value)]))]
    }),
  )
}
