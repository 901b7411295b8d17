/**
 * How schemas describe themselves in the API document where their code cannot tell: checks written as functions, and
 * texts that stand for something else.
 */
import { z } from 'zod'
import type { JsonObject } from './json.ts'

/** A JSON Schema, or another schema whose description is the one to give. */
export type Description = JsonObject | z.ZodType

/** Where the description is kept in the metadata of a schema. */
const KEY = 'documentedAs'

/** The schema with this description instead of the one that could be told from it. */
export const documentedAs = <S extends z.ZodType>(schema: S, description: Description): S =>
  schema.meta({ [KEY]: description })

/** The description that a schema was given; undefined when it speaks for itself. */
export const descriptionOf = (schema: z.core.$ZodType): Description | undefined =>
  z.globalRegistry.get(schema)?.[KEY] as Description | undefined

/** Other names of fields: alias to name. Kept where the document can find it. */
export const ALIASES = 'x-aliases'
