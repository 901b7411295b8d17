/** A server with tokens: which ones open it, and what those are told who have none or a wrong one. */
import { describe, expect, test } from 'vitest'
import { useAccess, WRONG_TOKEN } from '../../../test/support/access-file.ts'
import { createFailureLimiter } from './failure-limiter.ts'

const { server, face, aToken } = useAccess()

describe('a server with tokens', () => {
  test('asks for one, and says how to send it', async () => {
    await aToken('viewer')
    const { status, headers, body } = await face().call(null, 'GET', '/api/executions')
    expect([status, body['code'], body['status']]).toEqual([401, 'unauthorized', 401])
    expect(body['error']).toContain('Authorization: Bearer')
    expect(headers['www-authenticate']).toBe('Bearer realm="noetl"')
  })

  test('asks before it reads the body', async () => {
    await aToken('viewer')
    const answer = await face().call(null, 'POST', '/api/execute', { body: '{broken' })
    expect(answer.status).toBe(401)
  })

  test('answers health and its own description to everybody', async () => {
    await aToken('viewer')
    for (const path of ['/health', '/api/health', '/api/version', '/api/openapi.json'])
      expect((await face().call(null, 'GET', path)).status).toBe(200)
  })

  test('does not tell strangers which paths exist', async () => {
    const token = await aToken('viewer')
    const { call } = face()
    expect((await call(null, 'GET', '/api/nothing')).status).toBe(401)
    expect((await call(null, 'DELETE', '/api/execute')).status).toBe(401)
    expect((await call(token, 'GET', '/api/nothing')).status).toBe(404)
    expect((await call(token, 'DELETE', '/api/execute')).status).toBe(405)
  })

  test('does not care for names and origins: a token cannot be sent by accident', async () => {
    const token = await aToken('operator')
    const answer = await face().call(token, 'POST', '/api/executions/1/cancel', {
      headers: { host: 'noetl.example.com', origin: 'https://elsewhere.example.com' },
    })
    expect(answer.body['code']).toBe('not_found')
  })

  test.each(['Basic abc', 'Bearer', 'Bearer ', 'noetl_1_x', 'Token x'])(
    'refuses %j',
    async (authorization) => {
      await aToken('viewer')
      const answer = await face().call(null, 'GET', '/api/executions', { headers: { authorization } })
      expect([answer.status, answer.body['code']]).toEqual([401, 'unauthorized'])
    },
  )

  test('refuses a right number with a wrong secret, and a secret under another number', async () => {
    const one = await aToken('viewer')
    const other = await aToken('admin')
    const { call } = face()
    const [, , secret = ''] = /^noetl_(\d+)_(.*)$/.exec(one) ?? []
    const [, id = ''] = /^noetl_(\d+)_/.exec(other) ?? []
    for (const token of [WRONG_TOKEN, `noetl_${id}_${secret}`, `${one}x`, `noetl_999999_${secret}`])
      expect((await call(token, 'GET', '/api/executions')).status).toBe(401)
    expect((await call(one, 'GET', '/api/executions')).status).toBe(200)
  })

  test('refuses a token that expired and says so to its holder', async () => {
    let now = Date.now()
    const token = await aToken('viewer', 60)
    const { call } = face({ now: () => now })
    expect((await call(token, 'GET', '/api/session')).body).toMatchObject({ role: 'viewer', open: false })
    now += 61_000
    const { status, body } = await call(token, 'GET', '/api/session')
    expect(status).toBe(401)
    expect(body['error']).toContain("The token 'a viewer' expired at")
  })

  test('refuses a revoked token at once here, and elsewhere after a few seconds', async () => {
    let now = Date.now()
    const admin = await aToken('admin')
    const token = await aToken('viewer')
    const here = face()
    const elsewhere = face({ now: () => now })
    for (const each of [here, elsewhere])
      expect((await each.call(token, 'GET', '/api/session')).status).toBe(200)
    const [, id = ''] = /^noetl_(\d+)_/.exec(token) ?? []
    await here.call(admin, 'DELETE', `/api/tokens/${id}`)
    const { status, body } = await here.call(token, 'GET', '/api/session')
    expect([status, body['error']]).toEqual([401, "The token 'a viewer' was revoked"])
    expect((await elsewhere.call(token, 'GET', '/api/session')).status).toBe(200)
    now += 5000
    expect((await elsewhere.call(token, 'GET', '/api/session')).status).toBe(401)
  })

  test('knows the tokens that are not in the database', async () => {
    const { call } = face({ adminToken: 'environment-token-of-an-admin', localToken: 'local-token' })
    expect((await call('environment-token-of-an-admin', 'GET', '/api/session')).body).toMatchObject({
      name: 'environment',
      role: 'admin',
    })
    expect((await call('local-token', 'GET', '/api/session')).body).toMatchObject({ name: 'local' })
    expect((await call('local-token2', 'GET', '/api/session')).status).toBe(401)
  })

  test('records when a token was last used, once a minute at most', async () => {
    let now = Date.now()
    const admin = await aToken('admin')
    const { call } = face({ now: () => now })
    const lastUsed = async (): Promise<unknown> => {
      const { body } = await call(admin, 'GET', '/api/tokens')
      return (body['tokens'] as { last_used_at: string | null }[])[0]?.last_used_at
    }
    // It is written down beside the answer, not before it.
    await expect.poll(lastUsed, { timeout: 20_000 }).not.toBeNull()
    const { rows: before } = await server().core.shards.cluster.query('select xmin from noetl.access_token')
    await lastUsed()
    const { rows: after } = await server().core.shards.cluster.query('select xmin from noetl.access_token')
    expect(after).toEqual(before)
    const first = await lastUsed()
    now += 60_000
    await expect.poll(lastUsed, { timeout: 20_000 }).not.toBe(first)
  })
})

describe('wrong tokens', () => {
  test('are heard for a while, then not, by address; who was right before is heard all the time', async () => {
    let now = 0
    const failures = createFailureLimiter({ burst: 3, refillMs: 2000, now: () => now })
    const token = await aToken('viewer')
    const fresh = await aToken('viewer')
    const { call } = face({ failures })
    const from = '10.1.1.1'
    expect((await call(token, 'GET', '/api/session', { from })).status).toBe(200)
    for (let attempt = 0; attempt < 3; attempt += 1)
      expect((await call(WRONG_TOKEN, 'GET', '/api/session', { from })).status).toBe(401)
    const blocked = await call(WRONG_TOKEN, 'GET', '/api/session', { from })
    expect([blocked.status, blocked.body['code'], blocked.headers['retry-after']]).toEqual([
      429,
      'too_many_requests',
      '2',
    ])
    expect((await call(fresh, 'GET', '/api/session', { from })).status).toBe(429)
    expect((await call(token, 'GET', '/api/session', { from })).status).toBe(200)
    expect((await call(WRONG_TOKEN, 'GET', '/api/internal/secret-audit', { from })).status).toBe(429)
    expect((await call(WRONG_TOKEN, 'GET', '/api/session', { from: '10.1.1.2' })).status).toBe(401)
    expect((await call(null, 'GET', '/api/health', { from })).status).toBe(200)
    now += 2000
    expect((await call(fresh, 'GET', '/api/session', { from })).status).toBe(200)
  })
})
