/**
 * Requests made from the API document, nearly right and hostile, against a whole server.
 *
 * 1. Every request is answered, and soon.
 * 2. None is answered with a fault of the server.
 * 3. Every error has the one shape.
 * 4. Every answer is as described: the test server checks that.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { INTERNAL_TOKEN, startApiServer } from '../../../test/support/api-server.ts'
import { fanOut, single } from '../../../test/support/playbooks.ts'
import type { TestDatabase } from '../../../test/support/postgres.ts'
import { createTestDatabase } from '../../../test/support/postgres.ts'
import type { Response, TestServer } from '../../../test/support/server.ts'
import { textOf } from '../../../test/support/server.ts'
import { createRandom } from '../../engine/testing/random.ts'
import { createUndecidedApp } from './testing/undecided-app.ts'
import type { Operation } from './document.ts'
import { buildApiDocument } from './document.ts'
import type { HostileRequest, Known } from './testing/hostile-requests.ts'
import { createRequests } from './testing/hostile-requests.ts'
import { declaredRoutes } from '../route.ts'

const NEARLY_RIGHT = 60
const FEW = 5
/** Those that look at everything there is. */
const COSTLY = new Set(['examine'])
const SEED = 20_261_115
/** No request here asks for a wait. */
const SOON_MS = 30_000

const document = buildApiDocument(declaredRoutes(createUndecidedApp()), { version: 'test' })
const isStream = ({ responses }: Operation): boolean =>
  JSON.stringify(responses).includes('text/event-stream')

/** Those that take away what the others need come last. */
const isLast = (method: string, path: string): boolean => method === 'delete' || path.endsWith('/delete')

const operations = Object.entries(document.paths)
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method,
      path,
      operation,
      id: operation.operationId,
    })),
  )
  // A request inside the process cannot read a stream while it is written.
  .filter(({ operation }) => !isStream(operation))
  .sort((a, b) => Number(isLast(a.method, a.path)) - Number(isLast(b.method, b.path)))

let database: TestDatabase
let server: TestServer
let ended: string
/** What is there for every operation. */
let lasting: Known

const WORKER = 'fuzz-worker'

beforeAll(async () => {
  database = await createTestDatabase()
  server = await startApiServer([database.url])
  const catalogId = await server.register(single('fuzz/ended'))
  ended = await server.execute('fuzz/ended')
  await server.post(`/api/executions/${ended}/finalize`, { status: 'COMPLETED' })
  await server.post('/api/credentials', { name: 'fuzz', type: 'generic', data: { key: 'value' } })
  await server.post(`/api/vars/${ended}`, { variables: { fuzz: 1 } })
  await server.post('/api/worker/pool/register', {
    name: WORKER,
    runtime: { worker_public_key: Buffer.alloc(32, 9).toString('base64') },
  })
  const stored = await server.send('PUT', `/api/result/${ended}`, {
    name: 'fuzz',
    data: [1],
    source_step: 'start',
  })
  lasting = {
    catalog_id: [catalogId],
    identifier: ['fuzz'],
    var_name: ['fuzz'],
    step_name: ['start'],
    path: ['fuzz/ended', 'fuzz/running'],
    worker_id: [WORKER],
    ref: [textOf(stored.body['ref'])],
    content: [single('fuzz/registered')],
    status: ['COMPLETED', 'FAILED', 'RUNNING'],
    step: ['start', 'p1', 'nowhere'],
    event_type: [
      'command.started',
      'command.completed',
      'command.failed',
      'call.done',
      'step.exit',
      'odd.event',
    ],
  }
})

/** An execution that ended, one that runs, and a command of it that is leased. */
const makeKnown = async (): Promise<Known> => {
  // Another operation may have deleted it.
  await server.register(fanOut('fuzz/running', 5))
  const running = await server.execute('fuzz/running')
  const { body } = await server.post('/api/commands/lease', { worker_id: WORKER, max: 1000 })
  const commands = body['commands'] as readonly { event_id: string; lease_token: string }[]
  return {
    ...lasting,
    execution_id: [ended, running],
    event_id: commands.map(({ event_id }) => event_id),
    lease_token: commands.map(({ lease_token }) => lease_token),
  }
}

afterAll(async () => {
  await server.close()
  await database.drop()
})

const soon = async (answer: Promise<Response>): Promise<Response> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`not answered within ${SOON_MS} ms`)), SOON_MS)
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer))
}

const problemOf = ({ status, body, text }: Response): string | null => {
  if (status === 500) return `500: ${text}`
  if (status < 400) return null
  const hasShape =
    typeof body['error'] === 'string' && body['status'] === status && typeof body['code'] === 'string'
  // Health says what it has to say in its own words.
  return hasShape || status === 503 ? null : `${status} in another shape: ${text.slice(0, 300)}`
}

const shown = ({ url, body = '' }: HostileRequest): string => `${url.slice(0, 200)} ${body.slice(0, 300)}`

/** There is little to get wrong. */
const takesNothing = (path: string, { parameters, requestBody }: Operation): boolean =>
  !path.includes('{') && !parameters && !requestBody

describe('hostile requests are answered and never by a fault of the server', () => {
  test.each(operations)('$id: $method $path', async ({ method, path, operation, id }) => {
    const seed = Buffer.from(id).reduce((sum, byte) => (sum * 31 + byte) >>> 0, SEED)
    const requests = createRequests(document, createRandom(seed), await makeKnown())
    const fixed = requests.fixed(path, operation)
    const all =
      takesNothing(path, operation) || COSTLY.has(id)
        ? [...Array.from({ length: FEW }, () => requests.nearlyRight(path, operation)), ...fixed.slice(-FEW)]
        : [...fixed, ...Array.from({ length: NEARLY_RIGHT }, () => requests.nearlyRight(path, operation))]
    const access = operation['x-access'] === 'internal' ? { authorization: `Bearer ${INTERNAL_TOKEN}` } : {}
    const problems: string[] = []
    for (const request of all) {
      const sent = server.send(method.toUpperCase() as 'GET', request.url, request.body, {
        ...request.headers,
        ...access,
      })
      const problem = await soon(sent).then(problemOf, (error: unknown) => String(error))
      if (problem !== null) problems.push(`${problem}\n    for ${method} ${shown(request)}`)
    }
    expect(problems).toEqual([])
  })
})
