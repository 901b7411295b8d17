/** What the server tells about itself: connections, placement, load, version. */
import type { FastifyInstance } from 'fastify'
import { parseId } from '../../contract/ids.ts'
import { ProblemError } from '../../contract/problem.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import { shardFor } from '../../store/shards.ts'
import type { ServerContext } from '../app.ts'
import { createUsageMeter } from '../usage-meter.ts'

const MAX_SHARDS = 1024

export const systemRoutes = (app: FastifyInstance, { core, version }: ServerContext): void => {
  const { shards } = core
  const usage = createUsageMeter()

  app.get('/api/version', () => ({
    name: 'noetl',
    version,
    api_version: 'noetl.io/v2',
    node: process.version,
  }))

  app.get('/api/pool/status', () => {
    const sum = (count: (database: (typeof shards.all)[number]) => number): number =>
      shards.all.reduce((total, database) => total + count(database), 0)
    const max = sum(({ options }) => options.max)
    const size = sum(({ totalCount }) => totalCount)
    const available = sum(({ idleCount }) => idleCount)
    const busy = size - available
    return {
      pool_min: 0,
      pool_max: max,
      pool_size: size,
      pool_available: available,
      requests_waiting: sum(({ waitingCount }) => waitingCount),
      utilization: max === 0 ? 0 : busy / max,
      slots_available: max - busy,
      status: 'ok',
    }
  })

  app.get('/api/runtime/shard-info', (request) => {
    const { execution_id, shard_count } = request.query as { execution_id?: unknown; shard_count?: unknown }
    const id = parseId(execution_id)
    if (id === null)
      throw new ProblemError(
        'bad_request',
        `execution_id must be a 64-bit integer, got '${String(execution_id ?? '')}'`,
      )
    const count = shardCount(shard_count, shards.all.length)
    return {
      execution_id: rawInteger(id),
      shard_count: count,
      shard_index: shardFor(id, count),
      source: 'noetl-server',
      hash_function: 'twox_hash::XxHash64',
      seed: 0,
      server_config: { shard_index: 0, shard_count: shards.all.length },
    }
  })

  app.get('/api/status', () => usage())

  app.get('/api/threads', () => [{ thread_id: process.pid, name: 'main', is_alive: true }])
}

const shardCount = (text: unknown, fallback: number): number => {
  if (text === undefined || text === '') return fallback
  const count = typeof text === 'string' && /^\d{1,10}$/.test(text) ? Number(text) : null
  if (count === null)
    throw new ProblemError('bad_request', `shard_count must be a whole number, got '${String(text)}'`)
  if (count < 1) throw new ProblemError('bad_request', 'shard_count must be >= 1')
  if (count > MAX_SHARDS)
    throw new ProblemError('bad_request', `shard_count ${count} exceeds practical maximum ${MAX_SHARDS}`)
  return count
}
