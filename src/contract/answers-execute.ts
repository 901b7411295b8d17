/** What starting executions answers. */
import { z } from 'zod'
import { count, textId } from './answer-parts.ts'

export const ExecuteAnswer = z.object({
  execution_id: textId,
  status: z.enum(['started', 'duplicate']),
  commands_generated: count,
})

export const ExecuteBatchAnswer = z.object({
  count,
  started: count,
  duplicates: count,
  failed: count,
  results: z.array(
    z.object({
      index: count,
      status: z.enum(['started', 'duplicate', 'error']),
      execution_id: textId.optional(),
      commands_generated: count,
      error: z.string().optional(),
    }),
  ),
})
