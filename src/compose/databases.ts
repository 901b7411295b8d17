/** The databases of a server: the embedded one, or those of the user; migrated and open. */
import type { ProblemError } from '../contract/problem.ts'
import type { Database } from '../store/database.ts'
import { openDatabase } from '../store/database.ts'
import { startEmbeddedPostgres } from '../store/embedded/start.ts'
import { migrate } from '../store/migrate.ts'
import { ensurePartitions } from '../store/partitions.ts'
import type { Log } from '../worker/log.ts'
import { databaseProblem, refuseForeignAddresses } from './database-url.ts'
import { unlessAborted } from './interrupts.ts'
import type { Settings } from './settings.ts'
import type { Undo } from './undo.ts'
import { watchPostgres } from './watch-postgres.ts'

export interface OpenDatabases {
  readonly databases: readonly Database[]
  readonly embedded: boolean
  /** The first one. */
  readonly databaseUrl: string
  /** Resolves with the reason when the embedded PostgreSQL is gone. */
  readonly lost: Promise<ProblemError>
}

export type DatabaseOptions = Pick<Settings, 'databaseUrls' | 'dataDir' | 'pgBinDir'> & {
  readonly log: Log
  /** Gives the opening up, with the reason of the signal. */
  readonly signal?: AbortSignal
}

const CONNECTIONS_PER_SHARD = 10

export const openDatabases = async (options: DatabaseOptions, undo: Undo[]): Promise<OpenDatabases> => {
  refuseForeignAddresses(options.databaseUrls)
  const embedded = options.databaseUrls.length === 0
  const own = embedded ? await startOwn(options, undo) : null
  const urls = own ? [own.url] : options.databaseUrls
  const databases: Database[] = []
  for (const url of urls) {
    options.signal?.throwIfAborted()
    // Our own answers soon, and is stopped only when nobody is at work on it; another may never answer.
    const migrated = embedded ? migrate(url) : unlessAborted(migrate(url), options.signal)
    databases.push(await open(url, migrated, options, undo))
  }
  options.signal?.throwIfAborted()
  return { databases, embedded, databaseUrl: urls[0] ?? '', lost: own?.lost ?? new Promise(() => undefined) }
}

const startOwn = async (
  { dataDir, pgBinDir, log, signal }: DatabaseOptions,
  undo: Undo[],
): Promise<{ url: string; lost: Promise<ProblemError> }> => {
  const postgres = await startEmbeddedPostgres({
    dataDir,
    ...(pgBinDir === null ? {} : { binDir: pgBinDir }),
    log: (line) => log.debug({ line }, 'postgres'),
    signal,
  })
  const watch = watchPostgres(postgres.pid, dataDir)
  undo.push({
    what: 'PostgreSQL to shut down',
    run: () => {
      watch.stop()
      return postgres.stop()
    },
  })
  return { url: postgres.url, lost: watch.lost }
}

const open = async (
  url: string,
  migrated: Promise<unknown>,
  { log, signal }: DatabaseOptions,
  undo: Undo[],
): Promise<Database> => {
  try {
    await migrated
  } catch (error) {
    throw error === signal?.reason ? error : databaseProblem(url, error)
  }
  const onError = (error: Error): void => log.error({ error }, 'database connection lost')
  const database = openDatabase({ url, maxConnections: CONNECTIONS_PER_SHARD, onError })
  undo.push({ what: 'database connections', run: () => database.end() })
  await ensurePartitions(database, new Date())
  return database
}
