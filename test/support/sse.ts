/** Listening to the streams of a test server: over a real port, message by message. */
import type { AddressInfo } from 'node:net'
import { afterEach, expect } from 'vitest'
import type { ServerSentEvent } from '../../src/client/server-sent-events.ts'
import { readServerSentEvents } from '../../src/client/server-sent-events.ts'
import type { JsonObject } from '../../src/contract/json.ts'
import { parseJson } from '../../src/lib/exact-json.ts'
import { createApp } from '../../src/server/app.ts'
import type { TestServer } from './server.ts'

export interface ListeningServer {
  readonly base: string
  /** Ends streams, as a stopping server does. */
  stop(): void
}

export interface Message extends Omit<ServerSentEvent, 'data'> {
  readonly data: JsonObject
}

export interface Subscription {
  /** The next message; null when the stream has ended. */
  next(): Promise<Message | null>
  /** Messages up to the first that fits. */
  until(fits: (message: Message) => boolean): Promise<readonly Message[]>
  /** The id that the client would send to go on, also when no message brought it. */
  lastId(): string
  leave(): void
}

/** Servers with a port of their own, and subscriptions; both end with the test. */
export const useStreams = () => {
  const cleanups: (() => Promise<unknown> | void)[] = []
  afterEach(async () => {
    for (const clean of cleanups.splice(0).toReversed()) await clean()
  })

  const listen = async ({ core, leases }: TestServer): Promise<ListeningServer> => {
    const closing = new AbortController()
    const app = createApp({ core, leases, version: 'test', closing: closing.signal })
    await app.listen({ host: '127.0.0.1', port: 0 })
    cleanups.push(() => app.close())
    return {
      base: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
      stop: () => closing.abort(),
    }
  }

  const subscribe = async (url: string, lastEventId?: string): Promise<Subscription> => {
    const leaving = new AbortController()
    cleanups.push(() => leaving.abort())
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
    const response = await fetch(url, { headers, signal: leaving.signal })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    let id = lastEventId ?? ''
    // Reading begins now: a body that nobody reads is cancelled when its response is collected as garbage.
    const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader()
    const messages = readServerSentEvents(noting(reader, (last) => (id = last)))
    const next = async (): Promise<Message | null> => {
      const { value, done } = await messages.next()
      return done === true ? null : { ...value, data: parseJson(value.data) as JsonObject }
    }
    return {
      next,
      until: async (fits) => {
        const heard: Message[] = []
        for (;;) {
          const message = await next()
          if (message) heard.push(message)
          if (!message || fits(message)) return heard
        }
      },
      lastId: () => id,
      leave: () => leaving.abort(),
    }
  }

  return { listen, subscribe }
}

/** Passes bytes on and notes ids, also those without a message. */
async function* noting(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  note: (id: string) => void,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    for (const [, id = ''] of decoder.decode(value, { stream: true }).matchAll(/^id: (\S+)$/gm)) note(id)
    yield value
  }
}
