import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import Fastify from 'fastify'
import { afterEach, describe, expect, test } from 'vitest'
import type { EventStream } from './event-stream.ts'
import { openEventStream } from './event-stream.ts'

const cleanups: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean()
})

/** A server whose only route hands its stream to the test, and a client that decides itself when to read. */
const open = async (
  options: { stuckMs?: number } = {},
): Promise<{ stream: EventStream; client: Socket; stop(): void }> => {
  const closing = new AbortController()
  const app = Fastify({ forceCloseConnections: true })
  const opened = new Promise<EventStream>((resolve) => {
    app.get('/', (_request, reply) => resolve(openEventStream(reply, closing.signal, options)))
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  cleanups.push(() => app.close())
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  cleanups.push(() => void client.destroy())
  client.on('error', () => undefined)
  client.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  return { stream: await opened, client, stop: () => closing.abort() }
}

const LARGE_BYTES = 1024 * 1024
const LARGE = { name: 'event', data: { text: 'x'.repeat(LARGE_BYTES) }, id: '1' }

describe('a stream to a client', () => {
  test('waits for one that reads slowly (1)', async () => {
    const { stream, client } = await open()
    let [sent, received, mostAhead] = [0, 0, 0]
    const ended = once(client, 'end')
    client.on('data', (chunk: Buffer) => {
      received += chunk.length
      mostAhead = Math.max(mostAhead, sent - received / LARGE_BYTES)
      client.pause()
      setImmediate(() => client.resume())
    })
    for (; sent < 40; sent += 1) await stream.send(LARGE)
    expect(stream.gone.aborted).toBe(false)
    stream.end()
    await ended
    expect(received).toBeGreaterThan(40 * LARGE_BYTES)
    // The buffers of the system hold a few of them; the rest was not written before there was room.
    expect(mostAhead).toBeLessThan(30)
  })

  test('disconnects one that does not read at all (1)', async () => {
    const { stream, client } = await open({ stuckMs: 50 })
    client.pause()
    for (let sent = 0; sent < 100 && !stream.gone.aborted; sent += 1) await stream.send(LARGE)
    expect(stream.gone.aborted).toBe(true)
    await stream.send(LARGE)
  })

  test('ends its waits when the client leaves or the server stops', async () => {
    for (const how of ['leave', 'stop']) {
      const { stream, client, stop } = await open()
      client.pause()
      const sending = (async () => {
        while (!stream.gone.aborted) await stream.send(LARGE)
      })()
      if (how === 'leave') client.destroy()
      else stop()
      await sending
    }
  })

  test('is over from the start for one that left before it was opened (4)', async () => {
    const app = Fastify({ forceCloseConnections: true })
    cleanups.push(() => app.close())
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
    const opened = new Promise<EventStream>((resolve) => {
      app.get('/', async (_request, reply) => {
        const left = once(reply.raw, 'close')
        arrive()
        await left
        resolve(openEventStream(reply, new AbortController().signal))
      })
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    await arrived
    client.destroy()
    const stream = await opened
    expect(stream.gone.aborted).toBe(true)
    await stream.send(LARGE)
    stream.end()
  })

  test('makes one message of one event (2), and tells a place without one', async () => {
    const { stream, client } = await open()
    await stream.send({ name: 'odd\n\nevent: end\r\ndata: {}', data: { a: 'line\nbreak' }, id: '7' })
    await stream.place('8')
    await stream.keepAlive('9')
    stream.end()
    const chunks: string[] = []
    for await (const chunk of client.setEncoding('utf8')) chunks.push(String(chunk))
    const text = chunks.join('')
    expect(text).toContain('id: 7\nevent: odd  event: end  data: {}\ndata: {"a":"line\\nbreak"}\n\n')
    expect(text).toContain('id: 8\n\n')
    expect(text).not.toContain('id: 9')
  })
})
