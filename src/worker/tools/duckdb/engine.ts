/**
 * The databases that calls of this worker have open.
 *
 * 1. All calls on one file share one engine: two engines on one file in one process would destroy it. It is closed, and
 *    the file free for others, as soon as no call uses it. A database in memory belongs to its call.
 * 2. Statements run on the few threads that the process also needs for files and names, so only some calls run at
 *    once; others wait for their turn, and stop waiting when aborted.
 * 3. Aborting a call interrupts its statement, again and again until it ends: an interrupt that comes between two
 *    statements is lost.
 */
import { mkdir, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import type { DuckdbConnection, DuckdbDriver, DuckdbInstance, LoadDriver } from './driver.ts'
import { duckdbFailure } from './duckdb-error.ts'

export const IN_MEMORY = ':memory:'

export interface DuckdbSession {
  readonly driver: DuckdbDriver
  readonly connection: DuckdbConnection
}

export interface DuckdbDatabase {
  /** An absolute path, or `:memory:`. */
  readonly path: string
  readonly readOnly: boolean
}

export interface DuckdbEngine {
  /**
   * Rejects with a ToolFailure, or with the reason of the abort. Work that is part of other work here has its turn
   * already (`isInner`): waiting for a second one could wait for itself.
   */
  use<T>(
    database: DuckdbDatabase,
    signal: AbortSignal,
    work: (session: DuckdbSession) => Promise<T>,
    isInner?: boolean,
  ): Promise<T>
  /** Databases open now. */
  openCount(): number
  /** Waits for the calls under way. */
  close(): Promise<void>
}

interface Shared {
  readonly opening: Promise<DuckdbInstance>
  users: number
}

const INTERRUPT_EVERY_MS = 50

/** Hands out turns; who is aborted while it waits leaves the queue. */
const createTurns = (most: number) => {
  const waiting = new Set<() => void>()
  let taken = 0
  return {
    async take(signal: AbortSignal): Promise<void> {
      signal.throwIfAborted()
      if (taken < most) {
        taken += 1
        return
      }
      await new Promise<void>((resolve, reject) => {
        const proceed = (): void => {
          signal.removeEventListener('abort', giveUp)
          resolve()
        }
        const giveUp = (): void => {
          waiting.delete(proceed)
          reject(signal.reason)
        }
        waiting.add(proceed)
        signal.addEventListener('abort', giveUp, { once: true })
      })
    },
    pass(): void {
      const [next] = waiting
      if (next === undefined) {
        taken -= 1
        return
      }
      waiting.delete(next)
      next()
    },
  }
}

const interruptOnAbort = (connection: DuckdbConnection, signal: AbortSignal): (() => void) => {
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    connection.interrupt()
    timer = setInterval(() => connection.interrupt(), INTERRUPT_EVERY_MS)
  }
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return () => {
    clearInterval(timer)
    signal.removeEventListener('abort', stop)
  }
}

/** One name for one file, however it is written: the file itself may not be there yet. */
const canonicalPath = async (path: string): Promise<string> => {
  try {
    return await realpath(path)
  } catch {
    await mkdir(dirname(path), { recursive: true })
    return join(await realpath(dirname(path)), basename(path))
  }
}

export const createDuckdbEngine = (load: LoadDriver, mostCalls: number): DuckdbEngine => {
  const open = new Map<string, Shared>()
  const running = new Set<Promise<unknown>>()
  const turns = createTurns(mostCalls)

  const create = (driver: DuckdbDriver, path: string, readOnly: boolean): Promise<DuckdbInstance> =>
    driver.DuckDBInstance.create(path, readOnly ? { access_mode: 'READ_ONLY' } : {})

  const share = async (
    driver: DuckdbDriver,
    { path, readOnly }: DuckdbDatabase,
  ): Promise<{ readonly instance: DuckdbInstance; readonly release: () => void }> => {
    if (path === IN_MEMORY) {
      const instance = await create(driver, path, false)
      return { instance, release: () => instance.closeSync() }
    }
    const key = await canonicalPath(path)
    // An engine with the right to write serves readers too; the first call decides.
    const shared = open.get(key) ?? { opening: create(driver, key, readOnly), users: 0 }
    open.set(key, shared)
    shared.users += 1
    const release = (instance: DuckdbInstance | null): void => {
      shared.users -= 1
      if (shared.users > 0) return
      if (open.get(key) === shared) open.delete(key)
      instance?.closeSync()
    }
    try {
      const instance = await shared.opening
      return { instance, release: () => release(instance) }
    } catch (error) {
      release(null)
      throw error
    }
  }

  const run = async <T>(
    database: DuckdbDatabase,
    signal: AbortSignal,
    work: (session: DuckdbSession) => Promise<T>,
  ): Promise<T> => {
    const driver = await load()
    const { instance, release } = await share(driver, database)
    try {
      const connection = await instance.connect()
      const unwatch = interruptOnAbort(connection, signal)
      try {
        signal.throwIfAborted()
        return await work({ driver, connection })
      } finally {
        unwatch()
        connection.closeSync()
      }
    } finally {
      release()
    }
  }

  return {
    async use(database, signal, work, isInner = false) {
      if (!isInner) await turns.take(signal)
      const call = run(database, signal, work)
      running.add(call)
      try {
        return await call
      } catch (thrown) {
        throw signal.aborted ? signal.reason : duckdbFailure(thrown)
      } finally {
        running.delete(call)
        if (!isInner) turns.pass()
      }
    },
    openCount: () => open.size,
    async close() {
      await Promise.allSettled(running)
    },
  }
}
