/** What the server tells about itself: connections, placement, load, version. */
import type { FastifyInstance } from 'fastify'
import { ShardInfoQuery } from '../../contract/api-system.ts'
import { ProblemError } from '../../contract/problem.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import { shardFor } from '../../store/shards.ts'
import type { ServerContext } from '../app.ts'
import { createUsageMeter } from '../usage-meter.ts'

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
    const query = ShardInfoQuery.safeParse(request.query)
    if (!query.success)
      throw new ProblemError('bad_request', query.error.issues[0]?.message ?? 'invalid query')
    const id = query.data.execution_id
    const count = query.data.shard_count ?? shards.all.length
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
