/** What the server tells about itself and about those who announced themselves. */
import { z } from 'zod'
import { anyValue, count, instant, integerId, textId } from './answer-parts.ts'

export const RootAnswer = z.object({
  name: z.literal('noetl'),
  version: z.string(),
  links: z.object({ docs: z.string(), openapi: z.string(), health: z.string() }),
})

export const AliveAnswer = z.object({ status: z.literal('ok') })

export const HealthAnswer = z.object({
  status: z.enum(['ok', 'unhealthy']),
  database: z.enum(['connected', 'disconnected']),
  nats: z.enum(['connected', 'disconnected', 'not_configured']),
  uptime_seconds: count,
  version: z.string(),
})

export const VersionAnswer = z.object({
  name: z.literal('noetl'),
  version: z.string(),
  api_version: z.string(),
  node: z.string(),
})

export const ConnectionPoolAnswer = z.object({
  pool_min: count,
  pool_max: count,
  pool_size: count,
  pool_available: count,
  requests_waiting: count,
  utilization: z.number().meta({ description: 'From 0 to 1' }),
  slots_available: z.int(),
  status: z.literal('ok'),
})

export const ShardInfoAnswer = z.object({
  execution_id: integerId,
  shard_count: z.int().min(1),
  shard_index: count,
  source: z.literal('noetl-server'),
  hash_function: z.string(),
  seed: z.literal(0),
  server_config: z.object({ shard_index: count, shard_count: count }),
})

export const UsageAnswer = z.object({
  system: z.object({
    cpu_percent: z.number(),
    memory_percent: z.number(),
    total_memory_mb: z.number(),
    used_memory_mb: z.number(),
    available_memory_mb: z.number(),
  }),
  process: z.object({
    pid: z.int(),
    cpu_percent: z.number(),
    memory_rss_mb: z.number(),
    memory_vms_mb: z.number(),
    num_threads: z.int(),
    start_time: instant,
    uptime_seconds: count,
  }),
})

export const ThreadsAnswer = z.array(
  z.object({ thread_id: z.int(), name: z.string(), is_alive: z.boolean() }),
)

export const RuntimeAnswer = z
  .object({
    runtime_id: integerId,
    name: z.string(),
    kind: z.enum(['worker_pool', 'server_api', 'broker']),
    uri: z.string().nullable(),
    status: z.string(),
    labels: anyValue,
    capabilities: anyValue,
    capacity: z.int().nullable(),
    runtime: anyValue,
    heartbeat: instant,
    created_at: instant,
    updated_at: instant,
    stale: z.boolean().meta({ description: 'It was silent for too long' }),
  })
  .meta({ id: 'Runtime' })

export const RuntimeListAnswer = z.array(RuntimeAnswer)

export const RuntimeHeartbeatAnswer = z.object({
  status: z.enum(['ok', 'recreated']),
  message: z.string(),
  name: z.string(),
  runtime_id: textId,
})

export const DeregisteredAnswer = z.object({ status: z.literal('ok'), message: z.string() })
