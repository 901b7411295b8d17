/** Pieces that the schemas of answers are made of. Clients ignore keys they do not know: answers may grow. */
import { z } from 'zod'
import { documentedAs } from './documented.ts'
import { parseId } from './ids.ts'
import type { Json, JsonObject } from './json.ts'
import { isObject } from './json.ts'

/** A 64-bit id written as an integer with all its digits. Read it as text or as a big integer. */
export const integerId = documentedAs(
  z.custom<string | number>((value) => parseId(value) !== null),
  { type: 'integer', format: 'int64' },
)

/** A 64-bit id written as text. */
export const textId = documentedAs(
  z.string().refine((value) => parseId(value) !== null),
  { type: 'string', format: 'int64', pattern: String.raw`^-?\d{1,19}$` },
)

/** An instant in UTC. */
export const instant = documentedAs(z.string(), { type: 'string', format: 'date-time' })

export const count = z.int().min(0)

export const anyValue = z.custom<Json>().meta({ description: 'Any JSON value' })

export const anyObject = documentedAs(z.custom<JsonObject>(isObject), {
  type: 'object',
  additionalProperties: true,
})
