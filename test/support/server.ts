/**
 * A control plane for tests: core, leases, reaper and HTTP face on test databases, without ports and without
 * background services. Several of them may work on the same databases, as in a cluster.
 */
import type { Dispatcher } from '../../src/dispatch/dispatcher.ts'
import { createMemoryDispatcher } from '../../src/dispatch/memory.ts'
import type { Json, JsonObject } from '../../src/contract/json.ts'
import { createSealer } from '../../src/lib/sealer.ts'
import { createSnowflake } from '../../src/lib/snowflake.ts'
import { createApp } from '../../src/server/app.ts'
import type { Core, CoreOptions } from '../../src/server/core.ts'
import { createCore } from '../../src/server/core.ts'
import type { Leases } from '../../src/server/leases.ts'
import type { Metrics } from '../../src/server/metrics/metrics.ts'
import { createLeases } from '../../src/server/leases.ts'
import { createPlaybooks } from '../../src/server/playbooks.ts'
import type { Reaper } from '../../src/server/reaper.ts'
import { createReaper } from '../../src/server/reaper.ts'
import type { Database } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/database.ts'
import { ensurePartitions } from '../../src/store/partitions.ts'
import { createShards } from '../../src/store/shards.ts'
import { silentLog } from '../../src/worker/log.ts'
import type { HttpFace, Response } from './http-face.ts'
import { createHttpFace } from './http-face.ts'

export const testSealer = createSealer(Buffer.alloc(32, 7))

export type { Response } from './http-face.ts'

export interface TestServer extends HttpFace {
  readonly core: Core
  readonly leases: Leases
  readonly reaper: Reaper
  readonly databases: readonly Database[]
  /** Registers a playbook; answers its catalog id. */
  register(yaml: string): Promise<string>
  /** Starts the newest version of a playbook; answers the execution id. */
  execute(path: string, payload?: JsonObject): Promise<string>
  /** Ends streams and long polls, as a stopping server does. */
  stopStreams(): void
  close(): Promise<void>
}

export interface TestServerOptions extends Pick<
  CoreOptions,
  'limits' | 'cachedExecutions' | 'cachedBytes' | 'leaseSeconds' | 'resultBytesAtHand' | 'mirror'
> {
  readonly machineId?: number
  /** Wake-ups that reach other servers; the server closes it. */
  readonly dispatcher?: Dispatcher
  readonly metrics?: Metrics
  readonly rawSql?: boolean
}

let machines = 0

export const startServer = async (
  urls: readonly string[],
  options: TestServerOptions = {},
): Promise<TestServer> => {
  const {
    machineId = (machines += 1) % 1024,
    dispatcher = createMemoryDispatcher(),
    metrics,
    rawSql = false,
    ...coreOptions
  } = options
  const databases = urls.map((url) => openDatabase({ url, maxConnections: 6, onError: () => undefined }))
  for (const database of databases) await ensurePartitions(database, new Date())
  const shards = createShards(databases)
  const core = createCore({
    ...coreOptions,
    shards,
    sealer: testSealer,
    playbooks: createPlaybooks(shards.cluster),
    dispatcher,
    nextId: createSnowflake({ machineId, now: Date.now }),
    now: () => new Date(),
    log: silentLog,
    ...(metrics ? { instruments: metrics.instruments } : {}),
  })
  const leases = createLeases(core)
  const closing = new AbortController()
  const app = createApp({
    core,
    leases,
    version: '0.0.0-test',
    closing: closing.signal,
    rawSql,
    ...(metrics ? { metrics } : {}),
  })
  const face = createHttpFace(app)

  return {
    core,
    leases,
    reaper: createReaper(core),
    databases,
    ...face,
    register: async (content) =>
      textOf(expectOk(await face.post('/api/catalog/register', { content }))['catalog_id']),
    execute: async (path, payload = {}) =>
      textOf(expectOk(await face.post('/api/execute', { path, payload }))['execution_id']),
    stopStreams: () => closing.abort(),
    close: async () => {
      closing.abort()
      await app.close()
      await core.idle()
      await core.dispatcher.close()
      await Promise.all(databases.map((database) => database.end()))
    },
  }
}

/** A scalar of an answer as text. */
export const textOf = (value: Json | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null)

const expectOk = ({ status, body, text }: Response): JsonObject => {
  if (status !== 200) throw new Error(`the server answered ${status}: ${text}`)
  return body
}
