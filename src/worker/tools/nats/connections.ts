/**
 * Connections to NATS, one per server and user, shared by all calls.
 *
 * 1. Who asks while one is being made waits for the same one. A connection that could not be made is forgotten.
 * 2. One that is not used for a minute is closed, and so is one that the server ended: the next call makes another.
 * 3. An idle connection does not keep the worker's process alive longer than that minute.
 */
import type { NatsConnection } from '@nats-io/transport-node'

import type { NatsSettings } from './connection-settings.ts'
import { natsFailure } from './nats-error.ts'
import type { NatsPackages } from './packages.ts'

export interface NatsConnections {
  /** Rejects with a ToolFailure. */
  use<Value>(settings: NatsSettings, work: (connection: NatsConnection) => Promise<Value>): Promise<Value>
  connectionCount(): number
  close(): Promise<void>
}

const CONNECT_MS = 5_000
const IDLE_MS = 60_000
const RECONNECTS = 3

interface Entry {
  readonly connecting: Promise<NatsConnection>
  users: number
  idleTimer: NodeJS.Timeout | undefined
}

const connect = async (
  { transport }: NatsPackages,
  { servers, user, password, token, creds, tls }: NatsSettings,
): Promise<NatsConnection> => {
  try {
    return await transport.connect({
      servers: [...servers],
      name: 'noetl-worker',
      timeout: CONNECT_MS,
      maxReconnectAttempts: RECONNECTS,
      ...(user === null ? {} : { user }),
      ...(password === null ? {} : { pass: password }),
      ...(token === null ? {} : { token }),
      ...(creds === null ? {} : { authenticator: transport.credsAuthenticator(Buffer.from(creds)) }),
      ...(tls ? { tls: {} } : {}),
    })
  } catch (error) {
    throw natsFailure(error, `Connecting to ${servers.join(', ')}`)
  }
}

export const createNatsConnections = (packages: NatsPackages): NatsConnections => {
  const entries = new Map<string, Entry>()

  const drop = (key: string, entry: Entry): void => {
    clearTimeout(entry.idleTimer)
    if (entries.get(key) === entry) entries.delete(key)
  }

  const open = (key: string, settings: NatsSettings): Entry => {
    const entry: Entry = { connecting: connect(packages, settings), users: 0, idleTimer: undefined }
    entries.set(key, entry)
    entry.connecting
      .then((connection) => connection.closed())
      .then(
        () => drop(key, entry),
        () => drop(key, entry),
      )
    return entry
  }

  const giveBack = (key: string, entry: Entry): void => {
    entry.users -= 1
    if (entry.users > 0) return
    entry.idleTimer = setTimeout(() => {
      drop(key, entry)
      void shut(entry)
    }, IDLE_MS)
    entry.idleTimer.unref()
  }

  return {
    async use(settings, work) {
      const key = JSON.stringify(settings)
      const entry = entries.get(key) ?? open(key, settings)
      clearTimeout(entry.idleTimer)
      entry.users += 1
      try {
        return await work(await entry.connecting)
      } finally {
        giveBack(key, entry)
      }
    },
    connectionCount: () => entries.size,
    async close() {
      const all = [...entries.values()]
      entries.clear()
      for (const entry of all) clearTimeout(entry.idleTimer)
      await Promise.all(all.map(shut))
    },
  }
}

/** One that was never made, or is closed already, needs nothing. */
const shut = async ({ connecting }: Entry): Promise<void> => {
  await connecting.then((connection) => connection.close()).catch(() => undefined)
}
