/** The databases of a server: the embedded one, or those of the user; migrated and open. */
import { ProblemError } from '../contract/problem.ts'
import type { Database } from '../store/database.ts'
import { openDatabase } from '../store/database.ts'
import { startEmbeddedPostgres } from '../store/embedded/start.ts'
import { migrate } from '../store/migrate.ts'
import { ensurePartitions } from '../store/partitions.ts'
import type { Log } from '../worker/log.ts'
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

export type DatabaseOptions = Pick<Settings, 'databaseUrls' | 'dataDir' | 'pgBinDir'> & { readonly log: Log }

const CONNECTIONS_PER_SHARD = 10

export const openDatabases = async (options: DatabaseOptions, undo: Undo[]): Promise<OpenDatabases> => {
  const embedded = options.databaseUrls.length === 0
  const own = embedded ? await startOwn(options, undo) : null
  const urls = own ? [own.url] : options.databaseUrls
  const databases: Database[] = []
  for (const url of urls) databases.push(await open(url, options.log, undo))
  return { databases, embedded, databaseUrl: urls[0] ?? '', lost: own?.lost ?? new Promise(() => undefined) }
}

const startOwn = async (
  { dataDir, pgBinDir, log }: DatabaseOptions,
  undo: Undo[],
): Promise<{ url: string; lost: Promise<ProblemError> }> => {
  const postgres = await startEmbeddedPostgres({
    dataDir,
    ...(pgBinDir === null ? {} : { binDir: pgBinDir }),
    log: (line) => log.debug({ line }, 'postgres'),
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

const open = async (url: string, log: Log, undo: Undo[]): Promise<Database> => {
  try {
    await migrate(url)
  } catch (error) {
    throw databaseProblem(url, error)
  }
  const onError = (error: Error): void => log.error({ error }, 'database connection lost')
  const database = openDatabase({ url, maxConnections: CONNECTIONS_PER_SHARD, onError })
  undo.push({ what: 'database connections', run: () => database.end() })
  await ensurePartitions(database, new Date())
  return database
}

/** The user chose the database, so what is wrong with it is an expected problem. Its password is not shown. */
const databaseProblem = (url: string, error: unknown): ProblemError => {
  if (error instanceof ProblemError) return error
  const reason = error instanceof AggregateError ? error.errors.map(messageOf).join(', ') : messageOf(error)
  return new ProblemError('unavailable', `The database ${withoutPassword(url)} cannot be used: ${reason}`, {
    cause: error,
  })
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const withoutPassword = (text: string): string => {
  if (!URL.canParse(text)) return 'of NOETL_DATABASE_URL'
  const url = new URL(text)
  url.password = ''
  return url.href
}
