/**
 * Everything in one process: database, control plane, worker, HTTP. Started in this order, stopped in the reverse
 * one; a start that fails half way stops what it had started.
 */
import type { AddressInfo } from 'node:net'
import type { ClientOptions } from '../client/transport.ts'
import type { ProblemError } from '../contract/problem.ts'
import { createWallet } from '../lib/envelope.ts'
import { createRotatingSealer } from '../lib/rotating-sealer.ts'
import { createSnowflake } from '../lib/snowflake.ts'
import { createAuditKeeper } from '../server/access/audit-keeper.ts'
import type { ServerContext } from '../server/app.ts'
import { createApp } from '../server/app.ts'
import type { Core } from '../server/core.ts'
import { createCore } from '../server/core.ts'
import { createLeases } from '../server/leases.ts'
import { createExpiryKeeper } from '../server/expiry-keeper.ts'
import { reserveMachine } from '../server/machine-id-keeper.ts'
import { createMetrics } from '../server/metrics/metrics.ts'
import { startNarrator } from '../server/narrator.ts'
import { createPartitionKeeper } from '../server/partition-keeper.ts'
import { createPlaybooks } from '../server/playbooks.ts'
import { createReaper } from '../server/reaper.ts'
import { createSilenceKeeper } from '../server/silence-keeper.ts'
import { createTimers } from '../server/timers.ts'
import { expireLeasesOf } from '../store/commands.ts'
import type { Database } from '../store/database.ts'
import { createShards } from '../store/shards.ts'
import type { Log as WorkerLog } from '../worker/log.ts'
import type { AccessSettings } from './access-settings.ts'
import { readAccessSettings } from './access-settings.ts'
import { openDatabases } from './databases.ts'
import type { Guard } from './guard.ts'
import { createGuard } from './guard.ts'
import { defaultStateCacheMb } from './memory.ts'
import type { Settings } from './settings.ts'
import { settleEncryptionKeys } from './settle-keys.ts'
import { readWakeUpSettings } from './wake-up-settings.ts'
import { openWakeUps } from './wake-ups.ts'
import type { OnSlow, Undo } from './undo.ts'
import { stopAll } from './undo.ts'
import { listenProblem } from './listen.ts'
import { startChildRunner } from './child-runner.ts'
import { LOCAL_WORKER_PREFIX, startLocalWorker } from './local-worker.ts'
import { startTraces } from './traces.ts'

export interface StackOptions extends Omit<Settings, 'access'> {
  /** Without it: as when the environment says nothing. */
  readonly access?: AccessSettings
  readonly version: string
  readonly log: WorkerLog
  /** Environment that tools may see. */
  readonly toolEnv: Readonly<Record<string, string | undefined>>
  /** Gives the start up, with the reason of the signal. */
  readonly signal?: AbortSignal
}

export interface Stack {
  readonly url: string
  /** What commands on this machine show to be let in. */
  readonly access: ClientOptions
  readonly core: Core
  /** The first database. */
  readonly databaseUrl: string
  /** True when the data directory held no catalog yet. */
  readonly isNew: boolean
  /** Where the generated encryption key lies; null when it was given. */
  readonly keyFile: string | null
  /** Resolves with the reason when it cannot go on. */
  readonly lost: Promise<ProblemError>
  stop(onSlow?: OnSlow): Promise<void>
}

export const startStack = async (options: StackOptions): Promise<Stack> => {
  const undo: Undo[] = []
  const stop = (onSlow?: OnSlow): Promise<void> => stopAll(undo, options.log, onSlow)
  try {
    return { ...(await startParts(options, undo)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const startParts = async (options: StackOptions, undo: Undo[]): Promise<Omit<Stack, 'stop'>> => {
  const { log, access = readAccessSettings({}) } = options
  const guard = createGuard({ ...options, access })
  const { databases, embedded, databaseUrl, lost } = await openDatabases(options, undo)
  const keys = await settleEncryptionKeys(options, databases)
  options.signal?.throwIfAborted()
  const shards = createShards(databases)
  const protection = await guard.protect(shards.cluster, log)
  const settings = options.wakeUps ?? readWakeUpSettings({})
  const wakeUps = await openWakeUps({ settings, embedded, databaseUrl, log }, undo)
  const metrics = options.metrics ? createMetrics() : undefined
  const cachedBytes = (options.stateCacheMb ?? defaultStateCacheMb()) * 1024 * 1024
  const core = createCore({
    ...wakeUps.coreOptions,
    shards,
    sealer: createRotatingSealer(keys.key, keys.previous),
    // Playbooks are shared by executions: a fraction is plenty.
    playbooks: createPlaybooks(shards.cluster, cachedBytes / 4),
    dispatcher: wakeUps.dispatcher,
    nextId: createSnowflake({ machineId: await machineOf(options, shards.cluster, undo), now: Date.now }),
    now: () => new Date(),
    log,
    leaseSeconds: options.leaseSeconds,
    cachedBytes,
    ...(metrics ? { instruments: metrics.instruments } : {}),
  })
  undo.push({ what: 'events being written', run: () => core.idle() })
  wakeUps.attach(core)
  const leases = createLeases(core)
  const isNew = await isEmptyCatalog(shards.cluster)
  options.signal?.throwIfAborted()
  // An embedded database has one process on it: whoever held leases in a former one is gone.
  if (embedded) for (const database of databases) await expireLeasesOf(database, LOCAL_WORKER_PREFIX)
  startServices(core, undo, access)
  startTraces(core, options, undo)
  // Nobody hears what is told below the level of the log.
  if (options.logLevel === 'info' || options.logLevel === 'debug') startNarrator(core)
  undo.push({
    what: 'sub-playbooks being started',
    run: startChildRunner(core, leases, { log, workerPrefix: LOCAL_WORKER_PREFIX }),
  })
  const closing = new AbortController()
  const wallet = createWallet(keys.key, [...keys.previous])
  const parts = {
    core,
    leases,
    wallet,
    ...(metrics ? { metrics } : {}),
    rawSql: options.rawSql,
    natsConnected: wakeUps.natsConnected,
    closing: closing.signal,
    ...protection,
  }
  const url = await listen(options, parts, guard.scheme, undo)
  wakeUps.listensAt(url)
  if (options.slots > 0) {
    const run = startLocalWorker(core, leases, wallet, options, options.graceSeconds * 1000)
    undo.push({ what: `running commands to finish (they get ${options.graceSeconds} s)`, run })
  }
  undo.push({ what: 'open streams', run: async () => closing.abort() })
  return { url, access: guard.access, core, databaseUrl, isNew, keyFile: keys.file, lost }
}

/** A number that was given is the user's business; any other is reserved, so that no two servers make the same ids. */
const machineOf = async (
  { machineId, machineIdGiven, log }: StackOptions,
  cluster: Database,
  undo: Undo[],
): Promise<number | (() => number)> => {
  if (machineIdGiven) return machineId
  const keeper = await reserveMachine(cluster, machineId, log)
  keeper.start()
  undo.push({ what: 'the machine id to be given back', run: () => keeper.stop() })
  return keeper.current
}

const isEmptyCatalog = async (cluster: Database): Promise<boolean> =>
  (await cluster.query('select 1 from noetl.catalog limit 1')).rows.length === 0

const startServices = (core: Core, undo: Undo[], { auditDays }: AccessSettings): void => {
  for (const service of [
    createReaper(core),
    createSilenceKeeper(core),
    createTimers(core),
    createExpiryKeeper(core),
    createPartitionKeeper(core),
    createAuditKeeper(core, { days: auditDays }),
  ]) {
    service.start()
    undo.push({ what: 'background services', run: () => service.stop() })
  }
}

const listen = async (
  options: StackOptions,
  parts: Omit<ServerContext, 'version' | 'internalToken'>,
  scheme: Guard['scheme'],
  undo: Undo[],
): Promise<string> => {
  const { host, port, version, internalToken } = options
  const app = createApp({ ...parts, version, internalToken })
  undo.push({ what: 'open requests', run: () => app.close() })
  try {
    await app.listen({ host, port })
  } catch (error) {
    throw listenProblem(error, host, port)
  }
  const address = app.server.address() as AddressInfo
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `${scheme}://${shown}:${address.port}`
}
