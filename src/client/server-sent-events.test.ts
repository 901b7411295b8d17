import { expect, test } from 'vitest'
import type { ServerSentEvent } from './server-sent-events.ts'
import { readServerSentEvents } from './server-sent-events.ts'
import { collect } from './testing/collect.ts'

const read = async (bytes: Uint8Array, size: number): Promise<readonly ServerSentEvent[]> => {
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  return collect(readServerSentEvents(chunks()))
}

const TEXT =
  'id: 1\nevent: a\ndata: {"x": "é→𝄞"}\n\n: comment\n\ndata: one\ndata:two\r\n\r\nid:3\rdata\r\revent: cut\ndata: off\n'

const MESSAGES = [
  { type: 'a', id: '1', data: '{"x": "é→𝄞"}' },
  { type: 'message', id: null, data: 'one\ntwo' },
  { type: 'message', id: '3', data: '' },
]

test.each([1, 2, 3, 5, 7, 1000])(
  'messages are found when the stream is cut into pieces of %i bytes (1, 2)',
  async (size) => {
    expect(await read(new TextEncoder().encode(TEXT), size)).toEqual(MESSAGES)
  },
)

test('a long line that arrives in many pieces is read in time that grows with its length', async () => {
  const data = 'x'.repeat(4_000_000)
  const [message] = await read(new TextEncoder().encode(`data: ${data}\n\n`), 1000)
  expect(message?.data.length).toBe(data.length)
})
