/**
 * The processes of a soak: one PostgreSQL, servers on it, workers.
 *
 * 1. What was started is ended by `endAll`, also what is stopped, and when the program itself is interrupted.
 * 2. A process that ends without having been asked to is told by `died`: it is a finding unless the database was away.
 */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { EmbeddedPostgres } from '../../src/store/embedded/start.ts'
import { startEmbeddedPostgres } from '../../src/store/embedded/start.ts'

const COMMAND = fileURLToPath(new URL('../../bin/noetl', import.meta.url))
const READY_WITHIN_MS = 60_000

export interface Unit {
  readonly name: string
  /** Whether it runs and is not stopped, as far as we know. */
  isUp(): boolean
  start(): Promise<void>
  kill(): Promise<void>
  /** Asks it to end by itself. */
  interrupt(): Promise<void>
  freeze(): void
  thaw(): void
}

export interface Processes {
  readonly databaseUrl: string
  crashPostgres(): Promise<void>
  unit(name: string, args: readonly string[], options?: UnitOptions): Unit
  endAll(): Promise<void>
}

interface UnitOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Answers when it can be used; without it, a start is over when the process runs. */
  readonly isReady?: () => Promise<boolean>
}

const ownEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('NOETL_')))

export const startProcesses = async (
  directory: string,
  died: (name: string, exitCode: number | null) => void,
): Promise<Processes> => {
  const children = new Set<ChildProcess>()
  let isEnding = false
  const startPostgres = (): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({
      dataDir: join(directory, 'db'),
      // Processes die here, never the machine: what was committed is in the memory of the system.
      settings: { fsync: 'off', max_connections: '200' },
    })
  let postgres = await startPostgres()
  const { url } = postgres

  const unit = (name: string, args: readonly string[], { env = {}, isReady }: UnitOptions = {}): Unit => {
    let child: ChildProcess | null = null
    let isFrozen = false
    let isReadyNow = false
    let ended: Promise<void> = Promise.resolve()
    const end = async (signal: NodeJS.Signals): Promise<void> => {
      const ending = child
      child = null
      isReadyNow = false
      if (isFrozen) ending?.kill('SIGCONT')
      isFrozen = false
      ending?.kill(signal)
      await ended
    }
    const launch = (): ChildProcess => {
      const file = openSync(join(directory, `${name}.log`), 'a')
      const started = spawn(COMMAND, args, {
        cwd: directory,
        env: { ...ownEnvironment(), ...env },
        stdio: ['ignore', file, file],
      })
      closeSync(file)
      children.add(started)
      ended = new Promise((resolve) => {
        started.once('close', (code) => {
          children.delete(started)
          if (child === started) {
            child = null
            isReadyNow = false
            if (!isEnding) died(name, code)
          }
          resolve()
        })
      })
      return started
    }
    return {
      name,
      isUp: () => child !== null && isReadyNow && !isFrozen,
      start: async () => {
        if (child === null) child = launch()
        const starting = child
        const deadline = performance.now() + READY_WITHIN_MS
        for (;;) {
          const isUsable = !isReady || (await isReady().catch(() => false))
          if (isUsable || child !== starting) break
          if (performance.now() > deadline) throw new Error(`${name} was not ready in time`)
          await sleep(100)
        }
        isReadyNow = child === starting
      },
      kill: () => end('SIGKILL'),
      interrupt: () => end('SIGINT'),
      freeze: () => {
        isFrozen = child?.kill('SIGSTOP') ?? false
      },
      thaw: () => {
        if (isFrozen) child?.kill('SIGCONT')
        isFrozen = false
      },
    }
  }

  const killEverything = (): void => {
    isEnding = true
    for (const child of children) child.kill('SIGKILL')
  }
  process.on('exit', killEverything)

  return {
    databaseUrl: url,
    unit,
    crashPostgres: async () => {
      // As `pg_ctl stop -m immediate` does: nobody is waited for, nothing is written, the log is replayed at the start.
      process.kill(postgres.pid, 'SIGQUIT')
      await postgres.stop().catch(() => undefined)
      await sleep(200)
      postgres = await startPostgres()
    },
    endAll: async () => {
      killEverything()
      await postgres.stop()
    },
  }
}
