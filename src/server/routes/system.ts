/** What the server tells about itself: connections, placement, load, version. */
import type { FastifyInstance } from 'fastify'
import {
  ConnectionPoolAnswer,
  ShardInfoAnswer,
  ThreadsAnswer,
  UsageAnswer,
  VersionAnswer,
} from '../../contract/answers-server.ts'
import { ShardInfoQuery } from '../../contract/api-system.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import { shardFor } from '../../store/shards.ts'
import type { ServerContext } from '../app.ts'
import { route } from '../route.ts'
import { createUsageMeter } from '../usage-meter.ts'

const tag = 'server'

export const systemRoutes = (app: FastifyInstance, { core, version }: ServerContext): void => {
  const { shards } = core
  const usage = createUsageMeter()

  route(
    app,
    {
      method: 'GET',
      url: '/api/version',
      name: 'getVersion',
      tag,
      access: 'public',
      summary: 'The version of the server',
      answer: VersionAnswer,
    },
    () => ({
      name: 'noetl',
      version,
      api_version: 'noetl.io/v2',
      node: process.version,
    }),
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/pool/status',
      name: 'getConnectionPool',
      tag,
      access: 'viewer',
      summary: 'The connections to the database',
      answer: ConnectionPoolAnswer,
    },
    () => {
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
    },
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/runtime/shard-info',
      name: 'getShardOf',
      tag,
      access: 'viewer',
      summary: 'The shard that holds an execution',
      query: ShardInfoQuery,
      queryProblem: 'bad_request',
      answer: ShardInfoAnswer,
    },
    ({ query: { execution_id: id, shard_count } }) => {
      const count = shard_count ?? shards.all.length
      return {
        execution_id: rawInteger(id),
        shard_count: count,
        shard_index: shardFor(id, count),
        source: 'noetl-server',
        hash_function: 'twox_hash::XxHash64',
        seed: 0,
        server_config: { shard_index: 0, shard_count: shards.all.length },
      }
    },
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/status',
      name: 'getUsage',
      tag,
      access: 'viewer',
      summary: 'Processor and memory of the machine and of the process',
      answer: UsageAnswer,
    },
    () => usage(),
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/threads',
      name: 'listThreads',
      tag,
      access: 'viewer',
      summary: 'The threads of the process',
      answer: ThreadsAnswer,
    },
    () => [{ thread_id: process.pid, name: 'main', is_alive: true }],
  )
}
