/**
 * The connection to NATS, shared by everything that uses it. The package is loaded when a connection is asked for: a
 * server without NATS does not need it.
 *
 * 1. It comes and goes without anybody's help: an unreachable server is tried again for as long as the link is open.
 * 2. Whoever subscribed hears of every connection and every loss, also of a connection made before.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import { ProblemError } from '../contract/problem.ts'

export interface NatsLink {
  /** The connection; null while there is none. */
  connection(): NatsConnection | null
  /** Told of every change, and of the connection there is now. Answers how to stop. */
  onStatus(listener: StatusListener): () => void
  close(): Promise<void>
}

/** The connection, new or returned; null when it was lost. */
export type StatusListener = (connection: NatsConnection | null) => void

export interface NatsLinkOptions {
  /** `nats://user:password@host:4222`, several separated by commas. */
  readonly url: string
  /** Told why there is no connection. */
  readonly onError: (error: unknown) => void
}

const CONNECT_MS = 3000
const RECONNECT_MS = 500
const LONGEST_PAUSE_MS = 5000

export const openNatsLink = async ({ url, onError }: NatsLinkOptions): Promise<NatsLink> => {
  const { connect } = await loadTransport()
  const options = connectionOptions(url)
  const listeners = new Set<StatusListener>()
  const closing = new AbortController()
  let connection: NatsConnection | null = null
  let open: NatsConnection | null = null

  const become = (next: NatsConnection | null): void => {
    if (next === null && connection === null) return
    connection = next
    for (const listener of listeners) listener(next)
  }

  /** Follows one connection to its end; it repairs itself as long as it can. */
  const follow = async (current: NatsConnection): Promise<void> => {
    open = current
    become(current)
    for await (const status of current.status()) {
      if (status.type === 'disconnect' || status.type === 'staleConnection') become(null)
      if (status.type === 'reconnect') become(current)
    }
    const error = await current.closed()
    become(null)
    open = null
    if (error) throw error
  }

  const run = async (): Promise<void> => {
    for (let failures = 0; !closing.signal.aborted; failures += 1) {
      try {
        const fresh = await connect(options)
        failures = 0
        if (closing.signal.aborted) await fresh.close()
        else await follow(fresh)
      } catch (error) {
        if (closing.signal.aborted) return
        onError(error)
        await pause(Math.min(LONGEST_PAUSE_MS, 100 * 2 ** failures), closing.signal)
      }
    }
  }
  const running = run()

  return {
    connection: () => connection,
    onStatus: (listener) => {
      listeners.add(listener)
      if (connection) listener(connection)
      return () => void listeners.delete(listener)
    },
    close: async () => {
      closing.abort()
      listeners.clear()
      await open?.close()
      await running
    },
  }
}

const loadTransport = async () => {
  try {
    return await import('@nats-io/transport-node')
  } catch (error) {
    const message =
      'NOETL_NATS_URL is set, but the package for NATS is not installed: npm install @nats-io/transport-node @nats-io/jetstream'
    throw new ProblemError('invalid', message, { cause: error })
  }
}

/** Names and passwords stand in the address; the package takes them apart from it. */
export const connectionOptions = (url: string) => {
  const addresses = url.split(',').map((text) => {
    const address = text.trim()
    const full = address.includes('://') ? address : `nats://${address}`
    if (!URL.canParse(full))
      throw new ProblemError('invalid', `NOETL_NATS_URL is not an address such as nats://host:4222`)
    return new URL(full)
  })
  const [{ username, password } = { username: '', password: '' }] = addresses.filter((each) => each.username)
  const login =
    username === ''
      ? {}
      : password === ''
        ? { token: decodeURIComponent(username) }
        : { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
  return {
    servers: addresses.map(({ protocol, host }) => (protocol === 'tls:' ? `tls://${host}` : host)),
    name: 'noetl',
    timeout: CONNECT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    pingInterval: 20_000,
    ...login,
  }
}

const pause = (delayMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, delayMs)
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })
