/**
 * Streams, asked for in every wrong way and left at any moment, over real connections.
 *
 * 1. None is answered with a fault of the server, and every problem has the one shape and comes instead of the stream.
 * 2. A stream that began is a working one, whatever the client says it heard last.
 * 3. Whoever leaves, leaves nothing behind: nobody is subscribed in the end.
 */
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { aNote } from '../../../test/support/inputs.ts'
import { single } from '../../../test/support/playbooks.ts'
import type { TestDatabase } from '../../../test/support/postgres.ts'
import { createTestDatabase } from '../../../test/support/postgres.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import type { TestServer } from '../../../test/support/server.ts'
import { startServer } from '../../../test/support/server.ts'
import { createRandom } from '../../engine/testing/random.ts'
import { createApp } from '../app.ts'
import { changesOf } from '../changes.ts'
import { declaredRoutes } from '../route.ts'
import { outputListeners } from '../tool-output.ts'
import { buildApiDocument } from './document.ts'
import { createRequests } from './testing/hostile-requests.ts'
import type { StreamAnswer, StreamClient, StreamRequest } from './testing/stream-client.ts'
import { openClient } from './testing/stream-client.ts'
import { createUndecidedApp } from './testing/undecided-app.ts'

const document = buildApiDocument(declaredRoutes(createUndecidedApp()), { version: 'test' })
const streams = Object.entries(document.paths).flatMap(([path, { get }]) =>
  get && JSON.stringify(get.responses).includes('text/event-stream')
    ? [{ path, operation: get, id: get.operationId }]
    : [],
)

let database: TestDatabase
let server: TestServer
let port: number
let ended: string
let running: string
const closing = new AbortController()
const cleanups: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  server = await startServer([database.url])
  const { core, leases } = server
  const app = createApp({ core, leases, version: 'test', closing: closing.signal })
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as AddressInfo).port
  cleanups.push(
    () => app.close(),
    server.close,
    () => database.drop(),
  )
  await server.register(single('fuzz/stream'))
  ended = await server.execute('fuzz/stream')
  await createScriptedWorker(server, 'w1').drain()
})

beforeEach(async () => {
  running = await server.execute('fuzz/stream')
})

afterAll(async () => {
  closing.abort()
  for (const clean of cleanups) await clean()
})

const subscribed = (): number => changesOf(server.core).watching() + outputListeners(server.core)
const nobodyIsLeft = () => expect.poll(subscribed).toBe(0)

/** All streams there are, of an execution each that may be named. */
const urlsOf = (executionId: string): readonly string[] =>
  streams.map(({ path }) => path.replaceAll(/\{\w+\}/g, executionId))

const client = (request: StreamRequest): StreamClient => openClient(port, request)
const hasBegun = ({ body }: StreamAnswer): boolean => body.includes('\n\n')
const holds =
  (text: string) =>
  ({ body }: StreamAnswer): boolean =>
    body.includes(text)

/** What is wrong with an answer; null when nothing is. */
const problemOf = ({ status, isStream, body }: StreamAnswer): string | null => {
  if (status === 200) return isStream ? null : `200 but no stream: ${body.slice(0, 200)}`
  if (status >= 500 || status < 400) return `${status}: ${body.slice(0, 300)}`
  const { error, status: told, code } = JSON.parse(body) as Record<string, unknown>
  const hasShape = typeof error === 'string' && told === status && typeof code === 'string'
  return hasShape ? null : `${status} in another shape: ${body.slice(0, 300)}`
}

/** No stream gave any of these ids; some only look as if. */
const IDS: readonly string[] = [
  '',
  '0',
  '-1',
  '1.5',
  '1e9',
  '0x1',
  'NaN',
  'null',
  'Infinity',
  '999999999',
  '2147483648',
  '9999999999',
  '9'.repeat(400),
  'x'.repeat(4000),
  "'; drop table noetl.event; --",
  '1, 2',
  '\u00e4\u00ff',
  'tab\tinside',
  '0-0',
  '1-1',
  '-1-5',
  '253370764800000-1',
  '253370764800001-1',
  '999999999999999-1',
  '1-9223372036854775807',
  '1-9223372036854775808',
  '9999999999999-9223372036854775807',
  '0-0-0-0',
  '1-1-1-1',
  '18446744073709551615-9223372036854775807-999999999-999999999',
  '18446744073709551616-1-1-1',
  '99999999999999999999-1-1-1',
  '1-9223372036854775808-1-1',
  '1-9999999999999999999-1-1',
  '1-1-9999999999-1',
  '1-1-1-1-1',
  '\u00b2-\u00b2-\u00b2-\u00b2',
]

describe('whatever the client says it heard last', () => {
  const ofOne = streams.filter(({ path }) => path.includes('{execution_id}'))

  test.each(ofOne)('$id tells an execution to its end (2)', async ({ path }) => {
    const url = path.replace('{execution_id}', ended)
    for (const id of IDS) {
      const { status, isStream, body } = await client({ url, headers: [`Last-Event-ID: ${id}`] }).read()
      expect({ id, status, isStream, end: body.includes('event: end\n') }).toEqual({
        id,
        status: 200,
        isStream: true,
        end: true,
      })
    }
    await nobodyIsLeft()
  })

  test('the stream of all executions tells a place and what happens next (2)', async () => {
    for (const id of IDS) {
      const reader = client({ url: '/api/stream', headers: [`Last-Event-ID: ${id}`] })
      const begun = await reader.read(hasBegun)
      expect({ id, status: begun.status, body: begun.body }).toMatchObject({
        status: 200,
        body: expect.stringMatching(/^id: \d+-\d+\n\n/) as unknown,
      })
      reader.leave()
    }
    const readers = IDS.map((id) => client({ url: '/api/stream', headers: [`Last-Event-ID: ${id}`] }))
    for (const reader of readers) await reader.read(hasBegun)
    const fresh = await server.execute('fuzz/stream')
    for (const reader of readers) expect((await reader.read(holds(fresh))).body).toContain('event: status')
    for (const reader of readers) reader.leave()
    await nobodyIsLeft()
  })
})

describe('a stream that cannot be', () => {
  test.each([
    ['/api/executions/1/stream', 404, 'Execution not found: 1'],
    ['/api/executions/9223372036854775807/stream', 404, 'Execution not found: 9223372036854775807'],
    ['/api/executions/9223372036854775808/stream', 400, 'execution_id'],
    ['/api/executions/x/stream', 400, "Invalid execution_id: 'x' is not a number"],
    ['/api/executions/1.5/stream', 400, 'execution_id'],
    ['/api/executions/%00/stream', 400, 'execution_id'],
    ['/api/executions/%zz/stream', 400, ''],
    ['/api/executions/1/logs/stream', 404, 'Execution not found: 1'],
    [
      '/api/executions/99999999999999999999/stream',
      400,
      "Invalid execution_id: '99999999999999999999' is too large, an id has at most 64 bits",
    ],
    ['/api/executions/x/logs/stream', 400, "Invalid execution_id: 'x' is not a number"],
    ['/api/executions/ENDED/logs/stream?attempt=0', 422, 'attempt'],
    ['/api/executions/ENDED/logs/stream?attempt=x', 422, 'attempt'],
    ['/api/executions/ENDED/logs/stream?attempt=1.5', 422, 'attempt'],
    ['/api/executions/ENDED/logs/stream?attempt=2147483648', 422, 'attempt'],
    ['/api/executions/ENDED/logs/stream?attempt=1e400', 422, 'attempt'],
    ['/api/executions/ENDED/logs/stream?attempt=1&attempt=2', 422, 'attempt'],
    ['/api/executions/ENDED/logs/stream?stream=stdin', 422, 'stream'],
    ['/api/executions/ENDED/logs/stream?step=a&step=b', 422, 'step'],
    ['/api/executions/ENDED/logs/stream?step=%00', 422, 'NUL'],
    ['/api/executions/ENDED/logs/stream?command_id=a%00b', 422, 'NUL'],
    ['/api/executions/ENDED/logs?after=99999999999999999999-1-1-1', 422, 'is not a cursor of this list'],
    ['/api/executions/ENDED/logs?after=1-9223372036854775808-1-1', 422, 'is not a cursor of this list'],
    ['/api/stream?events=maybe', 422, 'events'],
    ['/api/stream?events=true&events=false', 422, 'events'],
    ['/api/stream?status=broken', 422, 'status'],
    ['/api/stream?status=RUNNING,broken', 422, 'status'],
    ['/api/stream?status=RUNNING&status=FAILED', 422, 'status'],
    ['/api/stream?path=a&path=b', 422, 'path'],
  ])('%s is refused with %i before it begins (1)', async (url, status, words) => {
    const answer = await client({ url: url.replace('ENDED', ended) }).read()
    expect(answer).toMatchObject({ status, isStream: false })
    expect(JSON.parse(answer.body)).toMatchObject({
      status,
      error: expect.stringContaining(words) as unknown,
    })
    expect(subscribed()).toBe(0)
  })

  test('is a problem when the database cannot be asked, not a stream that breaks (1)', async () => {
    const lost = Object.assign(new Error('gone'), { code: '57P01' })
    const away = { query: () => Promise.reject(lost) } as never
    const core = { ...server.core, shards: { cluster: away, all: [away], of: () => away } }
    const app = createApp({ core, leases: server.leases, version: 'test', closing: closing.signal })
    for (const url of urlsOf(running))
      for (const headers of [{}, { 'last-event-id': '1-1' }])
        expect((await app.inject({ url, headers })).statusCode).toBe(503)
    expect(changesOf(core).watching() + outputListeners(core)).toBe(0)
    await app.close()
  })

  test('answers the head alone to whoever asks for no more', async () => {
    for (const url of urlsOf(running)) {
      const { status, isStream, body } = await client({ method: 'HEAD', url }).read()
      expect({ status, isStream, body }).toEqual({ status: 200, isStream: true, body: '' })
    }
    await nobodyIsLeft()
  })
})

describe('requests made from the API document', () => {
  test.each(streams)(
    '$id is never answered with a fault of the server (1)',
    async ({ path, operation, id }) => {
      const seed = Buffer.from(id).reduce((sum, byte) => (sum * 31 + byte) >>> 0, 20_261_116)
      const known = { execution_id: [ended, running], status: ['RUNNING', 'failed'], 'Last-Event-ID': IDS }
      const requests = createRequests(document, createRandom(seed), known)
      const all = [
        ...requests.fixed(path, operation).filter(({ body }) => body === undefined),
        ...Array.from({ length: 80 }, () => requests.nearlyRight(path, operation)),
      ]
      const problems: string[] = []
      let begun = 0
      for (const { url, headers } of all) {
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
        const reader = client({ url, headers: lines })
        const answer = await reader.read(({ isStream }) => isStream)
        reader.leave()
        if (answer.isStream) begun += 1
        const problem = problemOf(answer)
        if (problem !== null) problems.push(`${problem}\n    for ${url.slice(0, 200)} ${lines.join(' ')}`)
      }
      expect(problems).toEqual([])
      expect(begun).toBeGreaterThan(10)
      await nobodyIsLeft()
    },
  )
})

describe('a client that leaves', () => {
  test('at any moment leaves nothing behind (3)', async () => {
    const random = createRandom(7)
    const urls = [...urlsOf(running), '/api/stream?events=true']
    const notes = Array.from({ length: 40 }, async () => server.core.tell(running, aNote()))
    const visits = Array.from({ length: 120 }, async (_, index) => {
      const reader = client({ url: urls[index % urls.length] ?? '' })
      const wanted = random.below(4)
      // Before it is connected, before it is answered, at its head, in the middle of what it is told.
      if (wanted === 1) await new Promise((resolve) => reader.socket.once('connect', resolve))
      if (wanted === 2) await reader.read(({ isStream }) => isStream)
      if (wanted === 3) {
        const enough = reader.read(({ body }) => body.length > 50)
        await server.core.tell(running, aNote())
        if (!(urls[index % urls.length] ?? '').includes('/logs/')) await enough
      }
      reader.leave()
    })
    await Promise.all([...visits, ...notes])
    await nobodyIsLeft()
  })

  test('is one of very many, all of whom are told, and none of whom stays (3)', async () => {
    const urls = [`/api/executions/${running}/stream`, '/api/stream?events=true']
    const readers = Array.from({ length: 300 }, (_, index) => client({ url: urls[index % 2] ?? '' }))
    for (const reader of readers) await reader.read(hasBegun)
    expect(subscribed()).toBe(300)
    await server.core.tell(running, aNote({ eventType: 'for.everybody' }))
    for (const reader of readers) expect((await reader.read(holds('for.everybody'))).status).toBe(200)
    for (const reader of readers) reader.leave()
    await nobodyIsLeft()
  })
})
