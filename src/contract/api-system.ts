/** Questions about the server itself. */
import { z } from 'zod'
import { parseId } from './ids.ts'

const MAX_SHARDS = 1024

/** Given once, several times or not at all. */
const QueryValue = z.union([z.string(), z.array(z.string())]).optional()

const shown = (value: unknown): string => (typeof value === 'string' ? value : '')

const ExecutionId = QueryValue.transform((value, context) => {
  const id = parseId(value)
  if (id !== null) return id
  context.addIssue({
    code: 'custom',
    message: `execution_id must be a 64-bit integer, got '${shown(value)}'`,
  })
  return z.NEVER
})

/** Null for as many as there are. */
const ShardCount = QueryValue.transform((value, context): number | null => {
  if (value === undefined || value === '') return null
  const count = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : null
  if (count !== null && count >= 1 && count <= MAX_SHARDS) return count
  const message =
    count === null
      ? `shard_count must be a whole number, got '${shown(value)}'`
      : count < 1
        ? 'shard_count must be >= 1'
        : `shard_count ${count} exceeds practical maximum ${MAX_SHARDS}`
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})

export const ShardInfoQuery = z.object({ execution_id: ExecutionId, shard_count: ShardCount })
