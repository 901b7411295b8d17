/** The driver's own pool, set up so that nothing comes from the worker's environment and nothing is left open. */
import { Socket } from 'node:net'

import pg from 'pg'

import type { ConnectionSettings } from './connection-settings.ts'

const CONNECT_MS = 10_000
const IDLE_MS = 30_000

export interface DriverPool {
  /** Closes what it opened when it does not become a connection. */
  connect(): Promise<pg.PoolClient>
  connectionCount(): number
  end(): Promise<void>
}

export const createDriverPool = (settings: ConnectionSettings): DriverPool => {
  let opened: Socket | null = null
  const pool = new pg.Pool({
    // The driver leaves the socket open when it cannot answer the server's question for a password.
    stream: () => (opened = new Socket()),
    host: settings.host,
    port: settings.port,
    user: settings.user,
    // A function, because an empty text would make the driver look into the worker's environment.
    password: () => settings.password,
    database: settings.database,
    ssl: settings.tls === false ? false : settings.tls.options,
    application_name: settings.applicationName,
    ...(settings.options === null ? {} : { options: settings.options }),
    max: settings.maxConnections,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
    keepAlive: true,
  })
  // An idle connection that breaks is dropped by the pool; nobody is waiting for it.
  pool.on('error', () => undefined)
  return {
    async connect() {
      opened = null
      // A new connection gets its socket before this call returns.
      const connecting = pool.connect()
      const socket: Socket | null = opened
      try {
        return await connecting
      } catch (error) {
        ;(socket as Socket | null)?.destroy()
        throw error
      }
    },
    connectionCount: () => pool.totalCount,
    end: () => pool.end(),
  }
}
