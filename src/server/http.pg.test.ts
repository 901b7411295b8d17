import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { single } from '../../test/support/playbooks.ts'
import { useServer } from '../../test/support/server-file.ts'
import { textOf } from '../../test/support/server.ts'
import { createApp } from './app.ts'

const server = useServer()

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`

/** Every route that takes a body, with a path that exists. */
const BODY_ROUTES = [
  '/api/catalog/register',
  '/api/catalog/list',
  '/api/catalog/resource',
  '/api/execute',
  '/api/events',
  '/api/events/batch',
  '/api/commands/lease',
  '/api/commands/heartbeat',
  '/api/commands/release',
  '/api/commands/1/claim',
  '/api/commands/1/heartbeat',
  '/api/executions/1/cancel',
  '/api/executions/1/finalize',
]

describe('errors have one shape', () => {
  test('an unknown route', async () => {
    expect(await server().get('/api/nothing?x=1')).toMatchObject({
      status: 404,
      body: { error: 'no route matched GET /api/nothing', status: 404, code: 'not_found' },
    })
  })

  test.each([
    ['GET', '/api/execute', 'POST'],
    ['DELETE', '/api/executions/12', 'GET, HEAD'],
    ['PUT', '/api/executions/12/cancel', 'POST'],
    ['PATCH', '/api/commands/12', 'GET, HEAD'],
    ['GET', '/api/catalog/register/', 'POST'],
  ] as const)('a wrong method: %s %s', async (method, path, allowed) => {
    const answer = await server().send(method, path)
    expect(answer).toMatchObject({
      status: 405,
      headers: { allow: allowed },
      body: { status: 405, code: 'method_not_allowed' },
    })
    expect(answer.body['error']).toContain(allowed)
  })

  test.each(['/api/executions/%zz', '/%'])('a path that cannot be decoded: %s', async (path) => {
    expect(await server().get(path)).toMatchObject({
      status: 400,
      body: { status: 400, code: 'bad_request' },
    })
  })

  test.each(['abc', '1.5', '9223372036854775808', '1'.repeat(300), '0x10', '-'])(
    'an id that is no 64-bit integer: %s',
    async (id) => {
      for (const path of [
        `/api/executions/${id}`,
        `/api/executions/${id}/status`,
        `/api/executions/${id}/events`,
        `/api/executions/${id}/stream`,
        `/api/commands/${id}`,
      ]) {
        const answer = await server().get(path)
        expect(answer.status).toBeGreaterThanOrEqual(400)
        expect(answer.status).toBeLessThan(415)
        expect(answer.body).toMatchObject({
          error: expect.any(String) as string,
          status: answer.status,
          code: expect.any(String) as string,
        })
      }
    },
  )

  test('a request that is not HTTP', async () => {
    const { core, leases } = server()
    const app = createApp({ core, leases, version: 'test', closing: new AbortController().signal })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'))
      let text = ''
      socket.on('data', (chunk) => (text += chunk.toString()))
      socket.on('close', () => resolve(text))
    })
    await app.close()
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ status: 400, code: 'bad_request' })
  })
})

describe.each(BODY_ROUTES)('POST %s', (path) => {
  test.each(['{', '{"a":}', 'content: yaml', '{"a":1} x', '\u0000'])(
    'refuses %j, which is not JSON',
    async (body) => {
      expect(await server().send('POST', path, body)).toMatchObject({
        status: 400,
        body: { status: 400, code: 'bad_request', error: expect.stringContaining('not JSON') as string },
      })
    },
  )

  test('refuses another content type', async () => {
    expect(
      await server().send('POST', path, 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }),
    ).toMatchObject({
      status: 415,
      body: { status: 415, code: 'unsupported_media_type' },
    })
  })

  test('refuses a body above the limit', async () => {
    const body = JSON.stringify({ content: 'x'.repeat(16 * 1024 * 1024) })
    expect(await server().send('POST', path, body)).toMatchObject({
      status: 413,
      body: { status: 413, code: 'too_large' },
    })
  })

  test.each(['null', '1', '"text"', '[]', '[{}]'])(
    'refuses the body %s, which is no object',
    async (body) => {
      const { status, body: answer } = await server().send('POST', path, body)
      // Where a body may be missing, null is a missing one.
      if (body === 'null') expect(status).toBeLessThan(500)
      else expect({ status, code: answer['code'] }).toEqual({ status: 422, code: 'invalid' })
    },
  )

  test.each([
    ['deep', `{"payload":${nested(100_000)}}`],
    ['just too deep', `{"payload":${nested(501)}}`],
    [
      'prototype',
      '{"__proto__":{"path":"x"},"payload":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}',
    ],
    ['huge numbers', '{"execution_id":1e400,"catalog_id":-1e400,"limit":99999999999999999999}'],
    ['empty keys', '{"":{"":{"":[]}}}'],
    [
      'NUL',
      '{"path":"\\u0000","worker_id":"\\u0000","pool":"\\u0000","content":"\\u0000","execution_id":"\\u0000"}',
    ],
  ])('survives a hostile body: %s', async (_name, body) => {
    const { status } = await server().send('POST', path, body)
    expect(status).toBeLessThan(500)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

test('a prototype key in a payload is not stored and changes nothing', async () => {
  await server().register(single('tests/proto'))
  const { body } = await server().send(
    'POST',
    '/api/execute',
    '{"path":"tests/proto","payload":{"a":1,"__proto__":{"b":2}}}',
  )
  const { body: detail } = await server().get(`/api/executions/${textOf(body['execution_id'])}`)
  expect(detail['workload']).toEqual({ a: 1 })
})

test('bodies of five hundred levels are taken', async () => {
  await server().register(single('tests/deep'))
  const { status } = await server().send(
    'POST',
    '/api/execute',
    `{"path":"tests/deep","payload":{"a":${nested(497)}}}`,
  )
  expect(status).toBe(200)
})

test('health says what works', async () => {
  expect((await server().get('/health')).body).toEqual({ status: 'ok' })
  expect((await server().get('/api/health')).body).toEqual({
    status: 'ok',
    database: 'connected',
    nats: 'not_configured',
    uptime_seconds: expect.any(Number) as number,
    version: '0.0.0-test',
  })
})
