/** Pieces that request schemas are made of: bodies with second spellings, and values of query strings. */
import { z } from 'zod'
import { ALIASES, documentedAs } from './documented.ts'
import type { Json, JsonObject } from './json.ts'
import { isObject } from './json.ts'

/** Any JSON value, but not nothing. */
export const anyJson = z
  .custom<Json>((value) => value !== undefined, { error: 'is required' })
  .meta({ description: 'Any JSON value' })

export const jsonObject = documentedAs(z.custom<JsonObject>(isObject, { error: 'must be an object' }), {
  type: 'object',
  additionalProperties: true,
})

/** As long as a name may be to fit into an index. */
const MAX_NAME = 512

/** A name: text with something in it, without blanks around. */
export const nameText = z
  .string({ error: 'must be text' })
  .trim()
  .min(1, { error: 'must not be empty' })
  .max(MAX_NAME, { error: `must not be longer than ${MAX_NAME} characters` })

/** A body with the given fields; unknown ones are ignored. A field given under both of its names is an error. */
export const body = <S extends z.ZodRawShape>(shape: S, aliases: Readonly<Record<string, string>> = {}) =>
  z
    .preprocess((value, context) => {
      if (!isObject(value)) {
        context.addIssue({ code: 'custom', message: 'the body must be a JSON object' })
        return z.NEVER
      }
      const copy: Record<string, unknown> = { ...value }
      for (const [alias, name] of Object.entries(aliases)) {
        if (!Object.hasOwn(value, alias)) continue
        if (Object.hasOwn(value, name)) {
          context.addIssue({
            code: 'custom',
            message: `'${name}' and its other name '${alias}' are both given; send one`,
          })
          return z.NEVER
        }
        copy[name] = copy[alias]
      }
      return copy
    }, z.object(shape))
    .meta(Object.keys(aliases).length === 0 ? {} : { [ALIASES]: aliases })

const TRUE = ['true', '1', 'yes', 'on']
const FALSE = ['false', '0', 'no', 'off', '']

/** `true`, `1`, `yes`, `on` and their opposites, in any case. */
export const queryFlag = (fallback: boolean) =>
  documentedAs(
    z
      .string()
      .optional()
      .transform((text, context) => {
        if (text === undefined) return fallback
        const word = text.toLowerCase()
        if (TRUE.includes(word)) return true
        if (FALSE.includes(word)) return false
        context.addIssue({ code: 'custom', message: 'must be true or false' })
        return z.NEVER
      }),
    { type: 'boolean', default: fallback },
  )

/** Text of a query string; empty counts as absent. */
export const queryText = z
  .string()
  .optional()
  .transform((text) => (text === undefined || text === '' ? null : text))
