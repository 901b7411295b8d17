/** An independent judge of the schema, and documents as it sees them. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Json } from '../../contract/json.ts'
import { createReport } from '../report.ts'
import { loadYaml } from '../yaml-load.ts'
import { toJson } from '../yaml-tree.ts'
import { PLAYBOOK_SCHEMA } from './playbook-schema.ts'

export const createJudge = (): Ajv2020 => {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true })
  // Words for editors, which validate nothing.
  ajv.addVocabulary(['deprecationMessage', 'enumDescriptions'])
  ajv.addSchema(PLAYBOOK_SCHEMA, 'playbook')
  return ajv
}

export type Judgement = (document: Json) => string | null

/** What the schema has against a document; null when it accepts it. */
export const createJudgement = (): Judgement => {
  const ajv = createJudge()
  return (document) => (ajv.validate('playbook', document) ? null : ajv.errorsText())
}

/** The document as plain data; null when the text is not YAML. */
export const dataOf = (text: string): Json | undefined => {
  const yaml = loadYaml(text, createReport(text))
  return yaml.ok ? toJson(yaml.root) : undefined
}
