/**
 * Connections, kept per server and user for the next call.
 *
 * 1. A call has its connection to itself, and gets it as if it were new: what the one before it left in the session is
 *    gone, also an open transaction.
 * 2. At most `maxConnections` per pool; who comes later waits, and stops waiting when aborted.
 * 3. A connection that is idle for half a minute is closed. Idle connections do not keep the worker's process alive.
 */
import type pg from 'pg'

import { requestCancel } from './cancel-request.ts'
import type { ConnectionSettings } from './connection-settings.ts'
import { createDriverPool, type DriverPool } from './driver-pool.ts'
import { databaseFailure } from './postgres-error.ts'

export interface PooledConnection {
  readonly client: pg.PoolClient
  /** Asks the server to stop what the connection is doing. The connection is not used again afterwards. */
  cancel(): void
  /** Breaks the connection, and with it whatever waits for an answer on it. */
  sever(): void
  release(): void
}

export interface ConnectionPools {
  /** Rejects with a ToolFailure, or with the reason of the abort. */
  acquire(settings: ConnectionSettings, signal: AbortSignal): Promise<PooledConnection>
  /** Connections open now. */
  connectionCount(): number
  close(): Promise<void>
}

const NO_TLS = 'The server does not support SSL connections'

interface Entry {
  pool: DriverPool
  settings: ConnectionSettings
  inUse: number
  readonly waiting: Set<() => void>
}

/** Waits for one of the connections the pool may have. */
const takeTurn = (entry: Entry, signal: AbortSignal): Promise<void> => {
  signal.throwIfAborted()
  if (entry.inUse < entry.settings.maxConnections) {
    entry.inUse += 1
    return Promise.resolve()
  }
  return new Promise((resolve, reject) => {
    const proceed = (): void => {
      signal.removeEventListener('abort', giveUp)
      resolve()
    }
    const giveUp = (): void => {
      entry.waiting.delete(proceed)
      reject(signal.reason)
    }
    entry.waiting.add(proceed)
    signal.addEventListener('abort', giveUp, { once: true })
  })
}

/** Hands the turn to who waits the longest. */
const passTurn = (entry: Entry): void => {
  const [next] = entry.waiting
  if (next === undefined) {
    entry.inUse -= 1
    return
  }
  entry.waiting.delete(next)
  next()
}

const connectOnce = async (entry: Entry): Promise<pg.PoolClient> => {
  try {
    return await entry.pool.connect()
  } catch (error) {
    const { tls } = entry.settings
    const mayGoPlain = tls !== false && tls.optional && error instanceof Error && error.message === NO_TLS
    if (!mayGoPlain) throw databaseFailure(error, null)
    void entry.pool.end()
    entry.settings = { ...entry.settings, tls: false }
    entry.pool = createDriverPool(entry.settings)
    return connectOnce(entry)
  }
}

const reset = async (client: pg.PoolClient): Promise<void> => {
  if (client.getTransactionStatus() !== 'I') await client.query('rollback')
  await client.query('discard all')
}

const pooled = (entry: Entry, client: pg.PoolClient): PooledConnection => {
  let reusable = true
  const onError = (): void => {
    reusable = false
  }
  client.on('error', onError)
  const giveBack = (isClean: boolean): void => {
    // One that is thrown away may still complain; somebody has to listen.
    if (isClean) client.removeListener('error', onError)
    client.release(!isClean)
    passTurn(entry)
  }
  return {
    client,
    cancel() {
      reusable = false
      const { processID, secretKey } = client as pg.PoolClient & { processID: number; secretKey: number }
      requestCancel(entry.settings, processID, secretKey)
    },
    sever() {
      reusable = false
      // With a statement under way this closes the socket at once.
      void (client as unknown as pg.Client).end().catch(() => undefined)
    },
    release() {
      if (!reusable) giveBack(false)
      else
        reset(client).then(
          () => giveBack(reusable),
          () => giveBack(false),
        )
    },
  }
}

export const createConnectionPools = (): ConnectionPools => {
  const entries = new Map<string, Entry>()

  /** Settings come and go, such as passwords that are renewed; their pools should not stay. */
  const forgetUnused = (): void => {
    for (const [key, { pool, inUse }] of entries) {
      if (inUse > 0 || pool.connectionCount() > 0) continue
      entries.delete(key)
      void pool.end()
    }
  }

  const entryFor = (settings: ConnectionSettings): Entry => {
    const known = entries.get(settings.key)
    if (known !== undefined) return known
    forgetUnused()
    const entry = { pool: createDriverPool(settings), settings, inUse: 0, waiting: new Set<() => void>() }
    entries.set(settings.key, entry)
    return entry
  }

  return {
    async acquire(settings, signal) {
      const entry = entryFor(settings)
      await takeTurn(entry, signal)
      const connecting = connectOnce(entry)
      let abort: (() => void) | undefined
      const aborted = new Promise<never>((_, reject) => {
        abort = () => reject(signal.reason)
        signal.addEventListener('abort', abort, { once: true })
      })
      try {
        return pooled(entry, await Promise.race([connecting, aborted]))
      } catch (error) {
        // Who gave up while connecting leaves the connection, should it come, to the next.
        connecting.then(
          (client) => pooled(entry, client).release(),
          () => passTurn(entry),
        )
        throw error
      } finally {
        if (abort !== undefined) signal.removeEventListener('abort', abort)
      }
    },
    connectionCount: () => [...entries.values()].reduce((sum, { pool }) => sum + pool.connectionCount(), 0),
    async close() {
      const pools = [...entries.values()].map(({ pool }) => pool)
      entries.clear()
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
}
