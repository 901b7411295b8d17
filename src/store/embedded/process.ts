/**
 * A running PostgreSQL server: started, ready, stopped.
 *
 * 1. Ready means that the server says so in `postmaster.pid` and that a connection was really made.
 * 2. A server that ends instead of becoming ready is reported with the last lines it printed.
 * 3. Stopping twice is stopping once; afterwards no process of the server is left.
 */
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { ProblemError } from '../../contract/problem.ts'
import type { Binaries } from './binaries.ts'
import { SUPERUSER } from './cluster.ts'
import { startGuarded, type GuardedProgram } from './guard.ts'
import { endLeftoverServer, readPostmasterFile, stopPostmaster } from './postmaster.ts'
import type { RunAs } from './run-as.ts'
import type { ServerLog } from './server-log.ts'
import { settingArguments } from './settings.ts'
import { SOCKET_PORT, type SocketDirectory } from './socket-dir.ts'

export interface ServerOptions {
  readonly clusterDir: string
  readonly binaries: Binaries
  readonly runAs: RunAs
  readonly serverLog: ServerLog
  readonly socketDir: SocketDirectory
  readonly settings: Readonly<Record<string, string>>
  readonly log: (line: string) => void
  readonly removeAfterDeath?: string | undefined
  /** Gives the start up, with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
}

export interface RunningServer {
  readonly pid: number
  stop(): Promise<void>
}

/** The server is patient with itself: after a crash it replays its log before it is ready. */
const READY_WITHIN_MS = 600_000
const REPORT_EVERY_MS = 10_000
const POLL_MS = 10

/** Processes of a server that was killed notice within moments; until then a new one cannot start. */
const STILL_IN_USE = /pre-existing shared memory block|lock file ".*" already exists/
const IN_USE_RETRIES = 25
const IN_USE_PAUSE_MS = 200

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  for (let attempt = 0; ; attempt += 1) {
    const program = launch(options)
    const pid = await waitUntilReady(program, options)
    if (pid !== null) return supervise(program, pid, options)
    if (options.signal?.aborted === true) removeOutsideSocket(options.socketDir)
    options.signal?.throwIfAborted()
    const output = options.serverLog.tail()
    if (attempt < IN_USE_RETRIES && STILL_IN_USE.test(output.split('\n').slice(-4).join('\n'))) {
      await sleep(IN_USE_PAUSE_MS)
      await endLeftoverServer(options.clusterDir, options.log)
      continue
    }
    removeOutsideSocket(options.socketDir)
    throw new ProblemError(
      'unavailable',
      `PostgreSQL did not start (see ${options.serverLog.path}):\n${output}`,
    )
  }
}

function launch(options: ServerOptions): GuardedProgram {
  const { binaries, clusterDir, runAs, serverLog, socketDir } = options
  // The directory comes first and is followed by more: that is how the process is recognised later.
  const command = [
    binaries.postgres,
    '-D',
    clusterDir,
    '-p',
    String(SOCKET_PORT),
    ...settingArguments({
      // A list of quoted paths; the quotes keep commas and spaces in the path from splitting it.
      unix_socket_directories: `"${socketDir.path.replaceAll('"', '""')}"`,
      ...options.settings,
    }),
  ]
  return startGuarded(runAs.wrap(command), {
    logFile: serverLog.descriptor,
    removeAfterDeath: options.removeAfterDeath ?? (socketDir.outside ? socketDir.path : undefined),
  })
}

/** The server's pid, or null when it ended instead. */
async function waitUntilReady(program: GuardedProgram, options: ServerOptions): Promise<number | null> {
  const startedAt = performance.now()
  let reportedAt = startedAt
  const pid = await program.pid
  while (program.isRunning()) {
    const file = readPostmasterFile(options.clusterDir)
    // Another pid: a server that an earlier process was just starting when it died, soon to end.
    if (file?.ready === true && file.pid === pid) return pid
    const now = performance.now()
    // Before it writes its file the server is deaf to signals: it inherits that they are ignored.
    const isGivenUp = options.signal?.aborted === true && file?.pid === pid
    if (now - startedAt > READY_WITHIN_MS || isGivenUp) {
      program.interrupt()
      await program.ended
      return null
    }
    if (now - reportedAt > REPORT_EVERY_MS) {
      reportedAt = now
      options.log(`Waiting for PostgreSQL to become ready: ${options.serverLog.tail().split('\n').at(-1)}`)
    }
    await sleep(POLL_MS)
  }
  await program.ended
  return null
}

function supervise(program: GuardedProgram, pid: number, options: ServerOptions): RunningServer {
  let stopping: Promise<void> | undefined
  program.holdProcess(false)
  void program.ended.then((status) => {
    if (stopping === undefined)
      options.log(`PostgreSQL ended unexpectedly with status ${status}; see ${options.serverLog.path}`)
  })
  const stop = async (): Promise<void> => {
    program.holdProcess(true)
    await stopPostmaster(pid, options.clusterDir)
    await program.ended
    removeOutsideSocket(options.socketDir)
  }
  return { pid, stop: () => (stopping ??= stop()) }
}

function removeOutsideSocket(socketDir: SocketDirectory): void {
  if (socketDir.outside) rmSync(socketDir.path, { recursive: true, force: true })
}

/** Makes sure of a real connection, and of the database everything is kept in. */
export async function ensureDatabase(socketDir: string, database: string): Promise<void> {
  const client = new Client({
    host: socketDir,
    port: SOCKET_PORT,
    user: SUPERUSER,
    database: 'postgres',
    ssl: false,
  })
  await client.connect()
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [database])
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(database)}`)
  } finally {
    await client.end()
  }
}
