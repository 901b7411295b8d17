/** Any catalog document as plain data: the same reading of YAML that playbooks get, without the rules of playbooks. */
import type { JsonObject } from '../contract/json.ts'
import type { ParseResult } from './parse.ts'
import { rootField } from './reader.ts'
import { createReport } from './report.ts'
import { loadYaml } from './yaml-load.ts'
import { mapToJson } from './yaml-tree.ts'

export type DocumentResult =
  | { readonly ok: true; readonly document: JsonObject }
  | Extract<ParseResult, { ok: false }>

export const readDocument = (text: string): DocumentResult => {
  const report = createReport(text)
  const yaml = loadYaml(text, report)
  if (!yaml.ok) return { ok: false, kind: yaml.kind, problems: report.sorted() }
  if (yaml.root.kind !== 'map') {
    report.error(
      'PARSE',
      rootField(yaml.root),
      'The document must be a mapping with apiVersion, kind and metadata',
    )
  }
  if (yaml.root.kind !== 'map' || report.hasErrors())
    return { ok: false, kind: 'invalid', problems: report.sorted() }
  return { ok: true, document: mapToJson(yaml.root) }
}
