/** Headers of requests that routes read, under their usual names. */
import { z } from 'zod'

const KEY = /^[\x21-\x7e]{1,255}$/

const idempotencyKey = z
  .string()
  .regex(KEY, { error: 'must be 1 to 255 visible ASCII characters' })
  .optional()

export const BatchHeaders = z.object({
  'Idempotency-Key': idempotencyKey.meta({
    description:
      'Chosen by the sender for this batch of this execution. The same key with other events is refused.',
  }),
  'X-Idempotency-Key': idempotencyKey.meta({ description: 'Another name for `Idempotency-Key`' }),
})

export const StreamHeaders = z.object({
  'Last-Event-ID': z.string().optional().meta({
    description: 'Id of the last message that arrived; one that this stream does not know counts as none',
  }),
})
