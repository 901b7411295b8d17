/**
 * The database cluster on disk, `<dataDir>/postgres`.
 *
 * 1. It exists completely or not at all: it is made aside and renamed into place once it is safely on disk.
 * 2. A cluster of another major version of PostgreSQL is refused, since the server could not read it.
 * 3. What an interrupted attempt left behind is removed by the next one.
 */
import { randomBytes } from 'node:crypto'
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lchownSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ProblemError } from '../../contract/problem.ts'
import { commandLines } from '../../lib/process-identity.ts'
import type { Binaries } from './binaries.ts'
import { startGuarded } from './guard.ts'
import type { Owner, RunAs } from './run-as.ts'
import type { ServerLog } from './server-log.ts'

export interface ClusterOptions {
  readonly dataDir: string
  readonly binaries: Binaries
  readonly runAs: RunAs
  readonly serverLog: ServerLog
  /** False only for data that may be lost, as in tests. */
  readonly durable: boolean
  readonly removeAfterDeath?: string | undefined
  /** Ends the making of a cluster. */
  readonly signal?: AbortSignal | undefined
}

export const SUPERUSER = 'noetl'

const TEMPORARY_PREFIX = 'postgres.tmp'
const INITDB_ENDS_WITHIN_MS = 10_000
const POLL_MS = 20

export function clusterDirectory(dataDir: string): string {
  return join(dataDir, 'postgres')
}

/** Makes the cluster if there is none yet; returns whether it did. */
export async function ensureCluster(options: ClusterOptions): Promise<boolean> {
  const { dataDir, binaries } = options
  await removeLeftovers(dataDir)
  options.signal?.throwIfAborted()
  const clusterDir = clusterDirectory(dataDir)
  const found = clusterVersion(clusterDir)
  if (found === null) {
    await createCluster(options)
    return true
  }
  if (found === binaries.majorVersion) {
    giveTo(options.runAs.owner, clusterDir)
    return false
  }
  throw new ProblemError(
    'conflict',
    `The data in ${clusterDir} was written by PostgreSQL ${found}, but the server found is PostgreSQL ` +
      `${binaries.version} (${binaries.postgres}). Set NOETL_PG_BIN to the bin directory of a PostgreSQL ${found}, ` +
      'or choose another data directory with --data-dir.',
    { details: { clusterDir, dataVersion: found, serverVersion: binaries.majorVersion } },
  )
}

/** The major version that wrote the cluster, or null when there is none. */
function clusterVersion(clusterDir: string): number | null {
  if (!existsSync(clusterDir) || readdirSync(clusterDir).length === 0) return null
  try {
    return Number.parseInt(readFileSync(join(clusterDir, 'PG_VERSION'), 'utf8'), 10)
  } catch (cause) {
    throw new ProblemError(
      'conflict',
      `${clusterDir} exists but holds no PostgreSQL data. Move it away, or choose another with --data-dir.`,
      { cause },
    )
  }
}

/** A cluster made by root in a user namespace, where none can be had any more (another container, say). */
function giveTo(owner: Owner | null, clusterDir: string): void {
  if (owner === null || statSync(clusterDir).uid === owner.uid) return
  for (const name of readdirSync(clusterDir, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(clusterDir, name), owner.uid, owner.gid)
  }
  // Last, so that an interrupted attempt is repeated.
  chownSync(clusterDir, owner.uid, owner.gid)
}

async function createCluster(options: ClusterOptions): Promise<void> {
  const { dataDir, runAs } = options
  // A name of its own each time: an earlier attempt may still be ending and tidying up after itself.
  const temporaryDir = join(dataDir, `${TEMPORARY_PREFIX}.${randomBytes(4).toString('hex')}`)
  mkdirSync(temporaryDir, { mode: 0o700 })
  if (runAs.owner !== null) chownSync(temporaryDir, runAs.owner.uid, runAs.owner.gid)
  try {
    await runInitdb(options, temporaryDir)
    renameSync(temporaryDir, clusterDirectory(dataDir))
    syncDirectory(dataDir)
  } catch (error) {
    rmSync(temporaryDir, { recursive: true, force: true })
    throw error
  }
}

async function runInitdb(options: ClusterOptions, directory: string): Promise<void> {
  const { binaries, runAs, serverLog, signal } = options
  const args = ['-D', directory, '-U', SUPERUSER, '-A', 'trust', '-E', 'UTF8', '--no-locale', '-k']
  // Texts sort by code point; since 17 PostgreSQL can also change their case without the help of the system.
  if (binaries.majorVersion >= 17) args.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8')
  if (!options.durable) args.push('--no-sync')
  const program = startGuarded(runAs.wrap([binaries.initdb, ...args]), {
    logFile: serverLog.descriptor,
    removeAfterDeath: options.removeAfterDeath,
  })
  signal?.addEventListener('abort', program.interrupt, { once: true })
  const status = await program.ended
  signal?.removeEventListener('abort', program.interrupt)
  signal?.throwIfAborted()
  if (status === 0) return
  throw new ProblemError(
    'unavailable',
    `PostgreSQL could not create its data in ${options.dataDir} (initdb ended with status ${status}):\n${serverLog.tail()}`,
  )
}

async function removeLeftovers(dataDir: string): Promise<void> {
  const leftovers = readdirSync(dataDir).filter((name) => name.startsWith(TEMPORARY_PREFIX))
  for (const name of leftovers) {
    const directory = join(dataDir, name)
    // The guard of a process that just died may still be ending its initdb. To take the files from under it
    // would make it fail in ways that leave shared memory behind.
    for (let waitedMs = 0; waitedMs < INITDB_ENDS_WITHIN_MS; waitedMs += POLL_MS) {
      if (!commandLines().some((command) => command.includes(directory))) break
      await sleep(POLL_MS)
    }
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Makes the new name itself survive a power failure. */
function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
