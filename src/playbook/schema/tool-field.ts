/**
 * The declared fields of a tool as schemas.
 *
 * 1. Everything takes null and, where there is text, a template or nothing: whatever the parser lets pass.
 * 2. Each spelling of a field is a key of its own; older ones are marked.
 * 3. Keys that the language itself reads have words here and no type: their own schema says more.
 */
import type { FieldType, ToolField, ToolFields } from '../../contract/tools/tool-declaration.ts'
import { LANGUAGE_NAMES } from '../../contract/tools/tool-declaration.ts'
import { about, legacy } from './parts.ts'
import type { Schema } from './parts.ts'

const JSON_TYPES: Readonly<Record<Exclude<FieldType, 'any'>, readonly string[]>> = {
  text: ['string', 'number', 'boolean'],
  texts: ['string', 'number', 'boolean', 'array'],
  integer: ['integer', 'string'],
  number: ['number', 'string'],
  flag: ['boolean', 'integer', 'string'],
  duration: ['number', 'string'],
  mapping: ['object', 'string'],
  list: ['array', 'string'],
}

const typeOf = ({ type }: ToolField): Schema => {
  const types = typeof type === 'string' ? [type] : type
  const words = types.flatMap((each) => (each === 'any' ? [] : JSON_TYPES[each]))
  return types.includes('any') ? {} : { type: [...new Set([...words, 'null'])] }
}

const fieldSchema = (name: string, field: ToolField): Schema => ({
  ...about(field.title, field.description, ...(field.examples ?? [])),
  ...(LANGUAGE_NAMES.includes(name) ? {} : typeOf(field)),
})

const spellings = (name: string, field: ToolField): readonly (readonly [string, Schema])[] => {
  const main = fieldSchema(name, field)
  const other: Schema = { ...main, description: `Another name for ${name}.` }
  return [
    [name, main],
    ...(field.aliases ?? []).map((alias) => [alias, other] as const),
    ...(field.older ?? []).map((alias) => [alias, { ...other, ...legacy(`Write ${name}`) }] as const),
  ]
}

export const fieldSchemas = (fields: ToolFields): Readonly<Record<string, Schema>> =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, field]) => spellings(name, field)))
