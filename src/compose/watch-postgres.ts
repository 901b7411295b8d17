/** Notices when the embedded PostgreSQL ends although nobody stopped it. */
import { join } from 'node:path'
import { ProblemError } from '../contract/problem.ts'

const LOOK_MS = 500

export interface PostgresWatch {
  /** Resolves with what to say when it is gone; never when the watch was stopped before. */
  readonly lost: Promise<ProblemError>
  stop(): void
}

export const watchPostgres = (pid: number, dataDir: string): PostgresWatch => {
  const { promise, resolve } = Promise.withResolvers<ProblemError>()
  const timer = setInterval(() => {
    if (isRunning(pid)) return
    clearInterval(timer)
    const message = `PostgreSQL (process ${pid}) ended unexpectedly; ${join(dataDir, 'postgres.log')} tells more`
    resolve(new ProblemError('unavailable', message))
  }, LOOK_MS)
  timer.unref()
  return { lost: promise, stop: () => clearInterval(timer) }
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // It exists and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
