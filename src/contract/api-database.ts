/** Requests about the server's own database. */
import { z } from 'zod'
import { anyObject, count } from './answer-parts.ts'
import { anyJson, body } from './api-body.ts'

const MAX_SQL = 1024 * 1024

export const SqlRequest = body(
  {
    query: z.string().max(MAX_SQL).nullish(),
    query_base64: z.base64().max(MAX_SQL).nullish(),
    /** A procedure to call, with its arguments in `parameters`. */
    procedure: z.string().max(500).nullish(),
    parameters: z.array(anyJson).max(1000).nullish(),
    schema: z.string().min(1).max(63).nullish(),
  },
  { db_schema: 'schema' },
)

export const SqlAnswer = z.object({
  status: z.literal('ok'),
  result: z.array(anyObject),
  command: z.string(),
  row_count: count.nullable(),
  truncated: z.boolean(),
})

export const SchemaAnswer = z.object({
  status: z.string(),
  message: z.string(),
  valid: z.boolean(),
  tables: z.array(z.string()),
  missing: z.array(z.string()),
})
