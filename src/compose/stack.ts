/**
 * Everything in one process: database, control plane, worker, HTTP. Started in this order, stopped in the reverse
 * one; a start that fails half way stops what it had started.
 */
import type { AddressInfo } from 'node:net'
import { ProblemError } from '../contract/problem.ts'
import { createMemoryDispatcher } from '../dispatch/memory.ts'
import { createSealer } from '../lib/sealer.ts'
import { createSnowflake } from '../lib/snowflake.ts'
import { createApp } from '../server/app.ts'
import type { Core } from '../server/core.ts'
import { createCore } from '../server/core.ts'
import type { Leases } from '../server/leases.ts'
import { createLeases } from '../server/leases.ts'
import { createPartitionKeeper } from '../server/partition-keeper.ts'
import { createPlaybooks } from '../server/playbooks.ts'
import { createReaper } from '../server/reaper.ts'
import { expireLeasesOf } from '../store/commands.ts'
import type { Database } from '../store/database.ts'
import { openDatabase } from '../store/database.ts'
import { startEmbeddedPostgres } from '../store/embedded/start.ts'
import { migrate } from '../store/migrate.ts'
import { ensurePartitions } from '../store/partitions.ts'
import { createShards } from '../store/shards.ts'
import type { Log as WorkerLog } from '../worker/log.ts'
import { loadEncryptionKey } from './encryption-key.ts'
import type { Settings } from './settings.ts'
import { LOCAL_WORKER_PREFIX, startLocalWorker } from './local-worker.ts'

export interface StackOptions extends Settings {
  readonly version: string
  readonly log: WorkerLog
  /** Environment that tools may see. */
  readonly toolEnv: Readonly<Record<string, string | undefined>>
}

export interface Stack {
  readonly url: string
  readonly core: Core
  /** The first database. */
  readonly databaseUrl: string
  /** True when the data directory held no catalog yet. */
  readonly isNew: boolean
  /** Where the generated encryption key lies; null when it was given. */
  readonly keyFile: string | null
  stop(): Promise<void>
}

type Undo = () => Promise<unknown>

const CONNECTIONS_PER_SHARD = 10
/** Running commands get this long to finish when the process stops. */
const GRACE_MS = 10_000

export const startStack = async (options: StackOptions): Promise<Stack> => {
  const undo: Undo[] = []
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) {
      await step().catch((error: unknown) => options.log.error({ error }, 'stopping failed'))
    }
  }
  try {
    return { ...(await startParts(options, undo)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const startParts = async (options: StackOptions, undo: Undo[]): Promise<Omit<Stack, 'stop'>> => {
  const { log, machineId } = options
  const { databases, embedded, databaseUrl } = await openDatabases(options, undo)
  const { key, file } = loadEncryptionKey(options.encryptionKey, options.dataDir)
  const shards = createShards(databases)
  const dispatcher = createMemoryDispatcher()
  undo.push(() => dispatcher.close())
  const core = createCore({
    shards,
    sealer: createSealer(key),
    playbooks: createPlaybooks(shards.cluster),
    dispatcher,
    nextId: createSnowflake({ machineId, now: Date.now }),
    now: () => new Date(),
    log,
  })
  undo.push(() => core.idle())
  const leases = createLeases(core)
  const isNew = await isEmptyCatalog(shards.cluster)
  // An embedded database has one process on it: whoever held leases in a former one is gone.
  if (embedded) for (const database of databases) await expireLeasesOf(database, LOCAL_WORKER_PREFIX)
  startServices(core, undo)
  const closing = new AbortController()
  const url = await listen(options, core, leases, closing.signal, undo)
  if (options.slots > 0) undo.push(startLocalWorker(core, leases, options, GRACE_MS))
  undo.push(async () => closing.abort())
  return { url, core, databaseUrl, isNew, keyFile: file }
}

const openDatabases = async (options: StackOptions, undo: Undo[]): Promise<{ databases: Database[]; embedded: boolean; databaseUrl: string }> => {
  const { log, databaseUrls, dataDir, pgBinDir } = options
  const embedded = databaseUrls.length === 0
  let urls = databaseUrls
  if (embedded) {
    const postgres = await startEmbeddedPostgres({
      dataDir,
      ...(pgBinDir === null ? {} : { binDir: pgBinDir }),
      log: (line) => log.debug({ line }, 'postgres'),
    })
    undo.push(() => postgres.stop())
    urls = [postgres.url]
  }
  const databases: Database[] = []
  for (const url of urls) {
    await migrate(url)
    const database = openDatabase({ url, maxConnections: CONNECTIONS_PER_SHARD, onError: (error) => log.error({ error }, 'database connection lost') })
    undo.push(() => database.end())
    await ensurePartitions(database, new Date())
    databases.push(database)
  }
  return { databases, embedded, databaseUrl: urls[0] ?? '' }
}

const isEmptyCatalog = async (cluster: Database): Promise<boolean> => (await cluster.query('select 1 from noetl.catalog limit 1')).rows.length === 0

const startServices = (core: Core, undo: Undo[]): void => {
  for (const service of [createReaper(core), createPartitionKeeper(core)]) {
    service.start()
    undo.push(() => service.stop())
  }
}

const listen = async (options: StackOptions, core: Core, leases: Leases, closing: AbortSignal, undo: Undo[]): Promise<string> => {
  const { host, port, version } = options
  const app = createApp({ core, leases, version, closing })
  undo.push(() => app.close())
  try {
    await app.listen({ host, port })
  } catch (error) {
    throw listenProblem(error, host, port)
  }
  const address = app.server.address() as AddressInfo
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${shown}:${address.port}`
}

const listenProblem = (error: unknown, host: string, port: number): unknown => {
  const code = (error as { code?: string }).code
  if (code === 'EADDRINUSE') return new ProblemError('conflict', `Port ${port} on ${host} is taken. Stop the program that uses it, or choose another with --port.`, { cause: error })
  if (code === 'EACCES') return new ProblemError('conflict', `Port ${port} may not be opened by this user. Choose one above 1023 with --port.`, { cause: error })
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return new ProblemError('invalid', `${host} is not an address of this machine. Choose another with --host.`, { cause: error })
  return error
}
