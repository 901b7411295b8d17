/**
 * Where messages leave for NATS JetStream. A message is published when a stream has confirmed it.
 *
 * 1. Streams and consumers are made sure of at every connection, and again when a message finds no stream: a server that
 *    was replaced by an empty one is served like a new one.
 * 2. Every message has an id by which the stream recognises repeats.
 */
import type { JetStreamClient } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { NatsLink } from './nats-link.ts'
import { ensureStreams } from './nats-streams.ts'

export interface OutletMessage {
  readonly subject: string
  readonly payload: string
  /** The same for every repeat. */
  readonly id: string
}

export interface Outlet {
  isOpen(): boolean
  /** Most bytes of a payload. */
  maxBytes(): number
  /** Told whenever it opens. Answers how to stop. */
  onOpen(listener: () => void): () => void
  publish(message: OutletMessage): Promise<void>
  close(): void
}

export interface OutletOptions {
  /** Told why it is not open although there is a connection. */
  readonly onError: (error: unknown) => void
}

const ACK_MS = 5000
const TRY_AGAIN_MS = 1000
/** Headers travel with the payload and count. */
const HEADER_BYTES = 1024

export const createNatsOutlet = async (link: NatsLink, { onError }: OutletOptions): Promise<Outlet> => {
  const { jetstream, jetstreamManager } = await import('@nats-io/jetstream')
  const listeners = new Set<() => void>()
  let client: JetStreamClient | null = null
  let maxPayload = 1024 * 1024
  let timer: NodeJS.Timeout | null = null

  const prepare = async (connection: NatsConnection): Promise<void> => {
    try {
      await ensureStreams(await jetstreamManager(connection, { timeout: ACK_MS }))
      if (link.connection() !== connection) return
      client = jetstream(connection, { timeout: ACK_MS })
      maxPayload = connection.info?.max_payload ?? maxPayload
      for (const listener of listeners) listener()
    } catch (error) {
      if (link.connection() !== connection) return
      onError(error)
      timer = setTimeout(() => void prepare(connection), TRY_AGAIN_MS)
      timer.unref()
    }
  }

  const follow = link.onStatus((connection) => {
    client = null
    if (timer) clearTimeout(timer)
    if (connection) void prepare(connection)
  })

  return {
    isOpen: () => client !== null,
    maxBytes: () => maxPayload - HEADER_BYTES,
    onOpen: (listener) => {
      listeners.add(listener)
      if (client) listener()
      return () => void listeners.delete(listener)
    },
    publish: async ({ subject, payload, id }) => {
      const current = client
      const connection = link.connection()
      if (!current || !connection) throw new Error('not connected to NATS')
      try {
        await current.publish(subject, payload, { msgID: id, timeout: ACK_MS })
      } catch (error) {
        if (client === current && isWithoutStream(error)) {
          client = null
          void prepare(connection)
        }
        throw error
      }
    },
    close: () => {
      follow()
      client = null
      if (timer) clearTimeout(timer)
    },
  }
}

const isWithoutStream = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'NoRespondersError' || /no responders|jetstream is not enabled|503/i.test(error.message))
