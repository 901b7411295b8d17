/**
 * Starts a PostgreSQL server of our own on a directory, for everybody who does not bring one.
 *
 * 1. One process at a time uses a data directory; a second is refused and told who has it.
 * 2. However an earlier process ended, the next start works, after waiting for the earlier server to be gone.
 * 3. A start that fails leaves no process behind and gives the directory free again.
 * 4. The server is reachable through a socket only this user can open, and not over the network.
 * 5. A start that is given up takes no further step, and ends like one that fails.
 */
import { realpathSync, rmSync } from 'node:fs'
import { ProblemError } from '../../contract/problem.ts'
import { findBinaries } from './binaries.ts'
import { clusterDirectory, ensureCluster, SUPERUSER } from './cluster.ts'
import { lockDirectory, type DirectoryLock } from './lock.ts'
import { makeDirectory } from './make-directory.ts'
import { endLeftoverServer } from './postmaster.ts'
import { ensureDatabase, startServer } from './process.ts'
import { chooseRunAs } from './run-as.ts'
import { openServerLog } from './server-log.ts'
import { prepareSocketDirectory, SOCKET_PORT } from './socket-dir.ts'

export interface EmbeddedPostgresOptions {
  /** Made if missing; holds the cluster, its log and its lock. */
  readonly dataDir: string
  /** Where `postgres` and `initdb` lie; found by itself when not given. */
  readonly binDir?: string | undefined
  /** Receives one line for each thing worth telling the user. */
  readonly log?: ((line: string) => void) | undefined
  /** PostgreSQL settings that win over the built-in ones. */
  readonly settings?: Readonly<Record<string, string>> | undefined
  /** Removes the whole data directory once the server ends, also when this process is killed. */
  readonly temporary?: boolean | undefined
  /** Gives the start up, with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
}

export interface EmbeddedPostgres {
  /** As the `pg` package takes it; the host is the directory of the socket. */
  readonly connection: { host: string; port: number; user: string; database: string }
  readonly url: string
  /** The process id of the server. */
  readonly pid: number
  /** Stops the server and gives the directory free; may be called again. */
  stop(): Promise<void>
}

const DATABASE = 'noetl'

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  if (process.platform === 'win32') {
    throw new ProblemError(
      'unavailable',
      'The embedded PostgreSQL is not supported on Windows. Set NOETL_DATABASE_URL to a running server.',
    )
  }
  // The real path, so that one directory reached by two names is one directory.
  const dataDir = realpathSync(makeDirectory(options.dataDir))
  const lock = lockDirectory(dataDir)
  try {
    return await startLocked(dataDir, lock, options)
  } catch (error) {
    giveFree(dataDir, lock, options)
    throw error
  }
}

async function startLocked(
  dataDir: string,
  lock: DirectoryLock,
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  options.signal?.throwIfAborted()
  const log = options.log ?? (() => undefined)
  const settings = options.settings ?? {}
  const removeAfterDeath = options.temporary === true ? dataDir : undefined
  const clusterDir = clusterDirectory(dataDir)
  const binaries = findBinaries(options.binDir)
  const runAs = chooseRunAs(clusterDir)
  await endLeftoverServer(clusterDir, log)
  const serverLog = openServerLog(dataDir, runAs.owner)
  try {
    const durable = settings['fsync'] !== 'off'
    const { signal } = options
    const created = await ensureCluster({
      dataDir,
      binaries,
      runAs,
      serverLog,
      durable,
      removeAfterDeath,
      signal,
    })
    signal?.throwIfAborted()
    if (created) log(`Created a PostgreSQL ${binaries.version} database in ${clusterDir}`)
    const socketDir = prepareSocketDirectory(dataDir, runAs.owner)
    const server = await startServer({
      clusterDir,
      binaries,
      runAs,
      serverLog,
      socketDir,
      settings,
      log,
      removeAfterDeath,
      signal,
    })
    const stop = async (): Promise<void> => {
      await server.stop()
      giveFree(dataDir, lock, options)
    }
    try {
      signal?.throwIfAborted()
      await ensureDatabase(socketDir.path, DATABASE)
    } catch (error) {
      await server.stop()
      throw error
    }
    return describe(socketDir.path, server.pid, stop)
  } finally {
    serverLog.close()
  }
}

function describe(socketDir: string, pid: number, stop: () => Promise<void>): EmbeddedPostgres {
  const connection = { host: socketDir, port: SOCKET_PORT, user: SUPERUSER, database: DATABASE }
  const url = `postgresql://${SUPERUSER}@${encodeURIComponent(socketDir)}:${SOCKET_PORT}/${DATABASE}`
  return { connection, url, pid, stop }
}

function giveFree(dataDir: string, lock: DirectoryLock, options: EmbeddedPostgresOptions): void {
  lock.release()
  if (options.temporary === true) rmSync(dataDir, { recursive: true, force: true })
}
