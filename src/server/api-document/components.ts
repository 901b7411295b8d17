/**
 * Schemas of the code as JSON Schema, gathered as the named components of the API document.
 *
 * 1. A schema is described once: whoever uses it again gets a reference to it.
 * 2. A schema that has an id is called by it; one that has none, by the name its first user gives.
 * 3. A field with a second name is described under both; a required one is required under either.
 * 4. Objects of answers are open, because answers may grow. A strict document closes them: with it, tests find fields
 *    that are answered but not described.
 */
import { z } from 'zod'
import { ALIASES, descriptionOf } from '../../contract/documented.ts'
import type { JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'

export type JsonSchema = Record<string, unknown>

export interface Components {
  /** A reference to the described schema. */
  refer(schema: z.ZodType, io: 'input' | 'output', name: string): JsonSchema
  /** The schema described in place; what has an id is still referred to. */
  inline(schema: z.ZodType, io: 'input' | 'output'): JsonSchema
  readonly schemas: Record<string, JsonSchema>
}

export const createComponents = ({ strict }: { readonly strict: boolean }): Components => {
  const schemas: Record<string, JsonSchema> = {}
  const names = new Map<z.ZodType, string>()

  const add = (name: string, schema: JsonSchema): void => {
    const known = schemas[name]
    if (known && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`two different schemas are called '${name}' in the API document`)
    schemas[name] = schema
  }

  const inline: Components['inline'] = (schema, io) => {
    const {
      $schema: _,
      $defs: definitions = {},
      ...root
    } = convert(schema, io, inline) as JsonSchema & {
      $defs?: Record<string, JsonSchema>
    }
    for (const [name, definition] of Object.entries(definitions)) add(name, tidy(definition, strict))
    return tidy(root, strict)
  }

  return {
    schemas,
    inline,
    refer: (schema, io, name) => {
      const known = names.get(schema)
      if (known !== undefined) return reference(known)
      const described = inline(schema, io)
      if (typeof described['$ref'] === 'string') return described
      add(name, described)
      names.set(schema, name)
      return reference(name)
    },
  }
}

const reference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

const convert = (schema: z.ZodType, io: 'input' | 'output', inline: Components['inline']): JsonSchema =>
  z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // Left out for values that are transformed, though it is what a sender wants to know.
      if (zodSchema instanceof z.ZodDefault) jsonSchema.default ??= zodSchema.def.defaultValue
      const description = descriptionOf(zodSchema)
      if (description === undefined) return
      const given = description instanceof z.ZodType ? inline(description, io) : description
      for (const key of Object.keys(jsonSchema)) delete (jsonSchema as JsonSchema)[key]
      Object.assign(jsonSchema, given)
    },
  })

/** References that lead into the document, no noise, and second names spelled out. */
const tidy = (value: unknown, strict: boolean): JsonSchema => tidyValue(value, strict) as JsonSchema

const tidyValue = (value: unknown, strict: boolean): unknown => {
  if (Array.isArray(value)) return value.map((item) => tidyValue(item, strict))
  if (!isObject(value)) return value
  const copy: JsonSchema = {}
  for (const [key, item] of Object.entries(value)) {
    if (isNoise(key, item, value, strict)) continue
    copy[key] =
      key === '$ref' && typeof item === 'string'
        ? item.replace('#/$defs/', '#/components/schemas/')
        : tidyValue(item, strict)
  }
  return isObject(copy[ALIASES]) ? withAliases(copy, copy[ALIASES] as Record<string, string>) : copy
}

const isNoise = (key: string, item: unknown, { format }: JsonObject, strict: boolean): boolean =>
  (key === 'additionalProperties' && item === false && !strict) ||
  (key === 'minimum' && item === Number.MIN_SAFE_INTEGER) ||
  (key === 'maximum' && item === Number.MAX_SAFE_INTEGER) ||
  // The format says what this long expression says.
  (key === 'pattern' && format === 'date-time')

const withAliases = (schema: JsonSchema, aliases: Readonly<Record<string, string>>): JsonSchema => {
  const properties = { ...(schema['properties'] as Record<string, JsonSchema>) }
  const required = (schema['required'] ?? []) as string[]
  const eitherName: JsonSchema[] = []
  for (const [alias, name] of Object.entries(aliases)) {
    properties[alias] = { ...properties[name], description: `Another name of \`${name}\`` }
    eitherName.push(
      required.includes(name)
        ? { oneOf: [{ required: [name] }, { required: [alias] }] }
        : { not: { required: [name, alias] } },
    )
  }
  const stillRequired = required.filter((name) => !Object.values(aliases).includes(name))
  const { required: _, ...rest } = schema
  return {
    ...rest,
    properties,
    ...(stillRequired.length > 0 ? { required: stillRequired } : {}),
    allOf: eitherName,
  }
}
