/** Checks credential data against the schema that was sent with it: which fields, which are required, of which type. */
import type { CredentialSchema } from '../contract/api-secrets.ts'
import type { Json } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'

const TESTS: Readonly<Record<string, (value: Json) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  object: isObject,
  array: Array.isArray,
  null: (value) => value === null,
  any: () => true,
}

const SYNONYMS: Readonly<Record<string, string>> = {
  str: 'string',
  text: 'string',
  int: 'integer',
  float: 'number',
  bool: 'boolean',
  dict: 'object',
  map: 'object',
  list: 'array',
}

/** Everything that does not fit, without the values; empty when all fits. */
export const schemaProblems = (data: Json, schema: CredentialSchema): readonly string[] => {
  if (!isObject(data)) return ['data must be an object to have a schema']
  const problems: string[] = []
  for (const field of schema.required ?? []) {
    if (!Object.hasOwn(data, field) || data[field] === null) problems.push(`field '${field}' is required`)
  }
  const { fields } = schema
  if (fields)
    for (const field of Object.keys(data))
      if (!fields.includes(field)) problems.push(`field '${field}' is not in the schema`)
  for (const [field, word] of Object.entries(schema.types ?? {})) {
    const type = SYNONYMS[word.toLowerCase()] ?? word.toLowerCase()
    const test = Object.hasOwn(TESTS, type) ? TESTS[type] : undefined
    if (!test) problems.push(`type '${word}' of field '${field}' is not known`)
    else if (Object.hasOwn(data, field) && !test(data[field] ?? null))
      problems.push(`field '${field}' must be of type ${type}`)
  }
  return problems
}
