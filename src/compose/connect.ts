/**
 * Finds the server a run goes to, in this order:
 *
 * 1. the one named by a flag or the environment; if it does not answer, that is an error;
 * 2. the one that announced itself in the data directory;
 * 3. the one at the usual address, unless a data directory was asked for;
 * 4. one started for this run on the data directory. If another process holds the directory, wait for its server to
 *    appear, or for it to end when it is a run like this one. A command that only asks needs data to be there.
 */
import type { Connection } from '../cli/run.ts'
import type { Client } from '../client/client.ts'
import { createClient } from '../client/client.ts'
import { isObject } from '../contract/json.ts'
import type { ClientOptions } from '../client/transport.ts'
import { ProblemError } from '../contract/problem.ts'
import { parseShardList } from '../store/shards.ts'
import { announcedAccess, givenAccess } from './client-access.ts'
import type { CommandContext } from './command-context.ts'
import { refuseMissingData } from './missing-data.ts'
import { readServerFile } from './server-file.ts'
import { DEFAULTS, readSettings } from './settings.ts'

export interface ConnectOptions {
  readonly server: string | null
  readonly dataDir: string | null
  readonly token?: string | null
  /** Whether a data directory that does not exist yet is made: there is nothing to ask of a new one. */
  readonly makesData: boolean
  /** Says what is done when it takes a while. */
  readonly tell: (line: string) => void
  readonly interrupted: AbortSignal
}

const PROBE_MS = 2000
const LOOK_AGAIN_MS = 200
const START_LIMIT_MS = 60_000

/** A server that is up, and how it lets us in. */
export interface RunningServer {
  readonly client: Client
  readonly access: ClientOptions
}

export const connect = async (options: ConnectOptions, context: CommandContext): Promise<Connection> => {
  const found = await findServer(options, context)
  if (found) return running(found)
  const settings = readSettings({ dataDir: options.dataDir ?? undefined }, context.env, parseShardList)
  if (!options.makesData) refuseMissingData(settings)
  return startOrWait(settings.dataDir, options, context)
}

/** Rules 1 to 3; null when no server is up. */
export const findServer = async (
  options: Pick<ConnectOptions, 'server' | 'dataDir' | 'token'>,
  { env }: CommandContext,
): Promise<RunningServer | null> => {
  const given = givenAccess(options.token, env)
  const named = options.server ?? env['NOETL_SERVER_URL'] ?? null
  if (named !== null) {
    const client = createClient(named, given)
    await client.health()
    return { client, access: given }
  }
  const announced = readServerFile(dataDirectory(options, env))
  if (announced?.kind === 'up') {
    const server = await answering(announced.url, announcedAccess(given, announced))
    if (server) return server
  }
  if ((options.dataDir ?? env['NOETL_DATA_DIR'] ?? null) !== null) return null
  return answering(`http://127.0.0.1:${env['NOETL_PORT'] ?? DEFAULTS.port}`, given)
}

const dataDirectory = ({ dataDir }: Pick<ConnectOptions, 'dataDir'>, env: CommandContext['env']): string =>
  readSettings({ dataDir: dataDir ?? undefined }, env, parseShardList).dataDir

const running = ({ client }: RunningServer): Connection => ({ client, close: async () => undefined })

const answering = async (url: string, access: ClientOptions): Promise<RunningServer | null> => {
  const client = createClient(url, access)
  try {
    await client.health({ signal: AbortSignal.timeout(PROBE_MS) })
    return { client, access }
  } catch {
    // Nobody there, or somebody else: the next place is tried.
    return null
  }
}

const startOrWait = async (
  directory: string,
  options: ConnectOptions,
  context: CommandContext,
): Promise<Connection> => {
  const deadline = performance.now() + START_LIMIT_MS
  let told = false
  for (;;) {
    try {
      // Loaded only here: a run on a server that is up needs none of its parts.
      const { startRunServer } = await import('./run-server.ts')
      return await startRunServer(directory, options.tell, context)
    } catch (error) {
      const holder = holderOf(error)
      if (holder === null || options.interrupted.aborted) throw error
      const announced = readServerFile(directory)
      const given = givenAccess(options.token, context.env)
      const server =
        announced?.kind === 'up' ? await answering(announced.url, announcedAccess(given, announced)) : null
      if (server) return running(server)
      if (announced?.kind !== 'run' && performance.now() > deadline) throw error
      if (!told) options.tell(`Waiting for process ${holder}, which uses ${directory}`)
      told = true
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
    }
  }
}

/** The process that holds the data directory, when that is what the error says. */
const holderOf = (error: unknown): number | null => {
  if (!(error instanceof ProblemError) || error.code !== 'conflict' || !isObject(error.details)) return null
  const { pid } = error.details
  return typeof pid === 'number' ? pid : null
}
