/** Requests about the output of tools. */
import { z } from 'zod'
import { instant, textId } from './answer-parts.ts'
import { body, queryText } from './api-body.ts'
import { idSchema } from './ids.ts'
import { OUTPUT_STREAMS } from './output.ts'

const MAX_PARTS = 1000
const MAX_TEXT = 256 * 1024

const Part = z.object({
  part: z.number().int().min(1),
  stream: z.enum(OUTPUT_STREAMS),
  at: z.iso.datetime({ offset: true }),
  text: z.string().max(MAX_TEXT),
})

export const OutputRequest = body({
  worker_id: z.string().min(1),
  outputs: z
    .array(
      z.object({
        execution_id: idSchema('execution_id'),
        event_id: idSchema('event_id'),
        lease_token: z.string(),
        parts: z.array(Part).max(MAX_PARTS),
      }),
    )
    .max(MAX_PARTS),
})

/** `<transaction>-<command>-<attempt>-<part>`: where a reader stands. */
const CURSOR = /^\d{1,20}-\d{1,19}-\d{1,9}-\d{1,9}$/
const LAST_TRANSACTION = 2n ** 64n - 1n
const LAST_COMMAND = 2n ** 63n - 1n

export const isOutputCursor = (text: string): boolean => {
  if (!CURSOR.test(text)) return false
  const [transaction = '', command = ''] = text.split('-')
  return BigInt(transaction) <= LAST_TRANSACTION && BigInt(command) <= LAST_COMMAND
}

const NO_CURSOR = 'is not a cursor of this list'
const MAX_ATTEMPT = 2 ** 31 - 1

const Filter = {
  step: queryText,
  command_id: queryText,
  attempt: z.coerce.number().int().min(1).max(MAX_ATTEMPT).optional(),
  stream: z.enum(OUTPUT_STREAMS).optional(),
}

export const LogsQuery = z.object({
  ...Filter,
  after: z
    .string()
    .regex(CURSOR, { error: NO_CURSOR, abort: true })
    .refine(isOutputCursor, { error: NO_CURSOR })
    .optional(),
  limit: z.coerce.number().int().min(1).max(5000).default(1000),
})

export const LogsStreamQuery = z.object(Filter)

export const OutputAnswer = z.object({ status: z.literal('ok'), stored: z.number().int() })

const LogEntryAnswer = z.object({
  cursor: z.string(),
  step: z.string(),
  command_id: z.string(),
  event_id: textId,
  attempt: z.number().int(),
  stream: z.enum(OUTPUT_STREAMS),
  at: instant,
  text: z.string(),
})

export const LogsAnswer = z.object({
  execution_id: textId,
  entries: z.array(LogEntryAnswer),
  next_cursor: z.string().nullable(),
})
