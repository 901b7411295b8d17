/**
 * The small pieces every part of the schema is built from.
 *
 * 1. A key whose value is null counts as not given, so everything optional takes null.
 * 2. Any scalar is text where text is expected.
 * 3. Only annotations stand beside `$ref`: older editors ignore or overwrite anything else there.
 */
import type { Json, JsonObject } from '../../contract/json.ts'

export type Schema = JsonObject

/** What an editor shows beside a key: a heading, what the key does, and values to copy. */
export const about = (title: string, description: string, ...examples: readonly Json[]): Schema =>
  examples.length === 0 ? { title, description } : { title, description, examples }

/** Marks an older spelling. Editors strike it through and show what to write instead. */
export const legacy = (instead: string): Schema => ({ deprecated: true, deprecationMessage: instead })

/** The definition of this name, with words for the place where it is used. */
export const ref = (name: string, words: Schema = {}): Schema => ({ ...words, $ref: `#/$defs/${name}` })

const SCALAR = ['string', 'number', 'boolean']

export const TEXT: Schema = { type: SCALAR }
export const OPTIONAL_TEXT: Schema = { type: [...SCALAR, 'null'] }
export const FILLED_TEXT: Schema = { type: SCALAR, pattern: String.raw`\S` }
export const OPTIONAL_FILLED_TEXT: Schema = { type: [...SCALAR, 'null'], pattern: String.raw`\S` }
export const OPTIONAL_MAPPING: Schema = { type: ['object', 'null'] }
export const OPTIONAL_FLAG: Schema = { type: ['boolean', 'null'] }

/** One text or a list of texts. */
export const TEXT_LIST: Schema = { type: [...SCALAR, 'array', 'null'], items: OPTIONAL_TEXT }

/** One word of a closed list. */
export const word = (...words: readonly string[]): Schema => ({ enum: [...words, null] })

export const optionalList = (items: Schema): Schema => ({ type: ['array', 'null'], items })

const NUMBER_TEXT = String.raw`^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$`
const TEMPLATE_TEXT = String.raw`\{\{|\{%`

/** A number, its digits as text, or a template that gives one. */
export const amount = (type: 'integer' | 'number', minimum: number): Schema => ({
  type: [type, 'string', 'null'],
  minimum,
  pattern: `${NUMBER_TEXT}|${TEMPLATE_TEXT}`,
})

/** True for a mapping that has the key with a value other than null. */
export const gives = (key: string): Schema => ({
  type: 'object',
  required: [key],
  properties: { [key]: { not: { type: 'null' } } },
})

/** True for a mapping in which this path of keys leads to a value that fits. */
export const at = (path: readonly string[], schema: Schema): Schema =>
  path.reduceRight<Schema>(
    (inner, key) => ({ type: 'object', required: [key], properties: { [key]: inner } }),
    schema,
  )
