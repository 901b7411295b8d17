/** The entrance of a server: who is let in, who is not, and what they are told. Numbers refer to door.ts and admit.ts. */
import { afterEach, describe, expect, test } from 'vitest'
import type { Role } from '../../contract/access.ts'
import { ROLES } from '../../contract/access.ts'
import type { AccessFace, AccessOptions } from '../../../test/support/access-server.ts'
import { tokensOf, withAccess } from '../../../test/support/access-server.ts'
import { INTERNAL_TOKEN, textOf } from '../../../test/support/api-server.ts'
import { useServer } from '../../../test/support/server-file.ts'
import { createFailureLimiter } from './failure-limiter.ts'
import { createToken } from './tokens.ts'

const server = useServer()
const faces: AccessFace[] = []

afterEach(async () => {
  await Promise.all(faces.splice(0).map((face) => face.close()))
  await server().core.shards.cluster.query('truncate noetl.access_token restart identity')
})

const face = (options: AccessOptions = {}): AccessFace => {
  const made = withAccess(server(), options)
  faces.push(made)
  return made
}

const aToken = async (role: Role, expiresInSeconds: number | null = null): Promise<string> =>
  (
    await createToken(server().core.shards.cluster, {
      name: `a ${role}`,
      role,
      expiresInSeconds,
      createdBy: 'test',
    })
  ).token

const WRONG = `noetl_1_${'x'.repeat(43)}`

describe('an open server', () => {
  test('lets in whoever comes without credentials, as an admin', async () => {
    const { body } = await face().call(null, 'GET', '/api/session')
    expect(body).toEqual({ name: 'anonymous', role: 'admin', token_id: null, expires_at: null, open: true })
    expect((await face().call(null, 'GET', '/api/tokens')).status).toBe(200)
  })

  test('refuses a wrong token all the same (2)', async () => {
    const { status, headers, body } = await face().call(WRONG, 'GET', '/api/executions')
    expect([status, body['code']]).toEqual([401, 'unauthorized'])
    expect(headers['www-authenticate']).toBe('Bearer realm="noetl", error="invalid_token"')
  })

  test('closes with its first token, for good (1)', async () => {
    const { call } = face()
    const created = await call(null, 'POST', '/api/tokens', { body: { name: 'me', role: 'admin' } })
    expect(created.status).toBe(200)
    const token = textOf(created.body['token'])
    expect((await call(null, 'GET', '/api/executions')).status).toBe(401)
    expect((await call(token, 'DELETE', `/api/tokens/${textOf(created.body['id'])}`)).status).toBe(200)
    expect((await call(null, 'GET', '/api/executions')).status).toBe(401)
    expect((await face().call(null, 'GET', '/api/executions')).status).toBe(401)
  })

  test('learns within a second that another server made a token (1)', async () => {
    let now = 1_000_000
    const { call } = face({ now: () => now })
    expect((await call(null, 'GET', '/api/executions')).status).toBe(200)
    await aToken('viewer')
    now += 1000
    expect((await call(null, 'GET', '/api/executions')).status).toBe(401)
  })

  test('stays open or closed when it was told so (1)', async () => {
    expect((await face({ mode: 'required' }).call(null, 'GET', '/api/executions')).status).toBe(401)
    expect((await face({ adminToken: 'a'.repeat(32) }).call(null, 'GET', '/api/executions')).status).toBe(401)
    await aToken('viewer')
    const open = face({ mode: 'open' })
    expect((await open.call(null, 'GET', '/api/executions')).status).toBe(200)
    await open.call(null, 'POST', '/api/tokens', { body: { name: 'x', role: 'viewer' } })
    expect((await open.call(null, 'GET', '/api/executions')).status).toBe(200)
  })

  test.each(['evil.example.com', 'evil.example.com:8082', '10.0.0.7:8082', '127.0.0.1.evil.com'])(
    'does not answer to the name %j',
    async (host) => {
      const { status, body } = await face().call(null, 'GET', '/api/executions', { headers: { host } })
      expect([status, body['code']]).toEqual([403, 'forbidden'])
    },
  )

  test.each(['localhost:1', '127.0.0.1', '[::1]:8082', 'app.localhost'])(
    'answers to the name %j',
    async (host) => {
      expect((await face().call(null, 'GET', '/api/executions', { headers: { host } })).status).toBe(200)
    },
  )

  test('answers to the name it was told to listen on, and to every name on a trusted network', async () => {
    const headers = { host: 'Box.Example.com:8082' }
    const named = face({ host: 'box.example.com' })
    expect((await named.call(null, 'GET', '/api/executions', { headers })).status).toBe(200)
    const trusting = face({ checksHost: false })
    expect((await trusting.call(null, 'GET', '/api/executions', { headers })).status).toBe(200)
  })

  test('lets pages of other origins change nothing', async () => {
    const { call } = face({ origins: ['https://ui.example.com'] })
    const cancel = async (origin: string): Promise<string> => {
      const answer = await call(null, 'POST', '/api/executions/1/cancel', {
        headers: { host: '127.0.0.1:8082', origin },
      })
      return textOf(answer.body['code'])
    }
    for (const origin of ['https://evil.example.com', 'http://127.0.0.1:9999', 'null', 'garbage'])
      expect(await cancel(origin)).toBe('forbidden')
    for (const origin of ['http://127.0.0.1:8082', 'https://ui.example.com'])
      expect(await cancel(origin)).toBe('not_found')
  })
})

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
    for (const token of [WRONG, `noetl_${id}_${secret}`, `${one}x`, `noetl_999999_${secret}`])
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
    await expect.poll(lastUsed).not.toBeNull()
    const { rows: before } = await server().core.shards.cluster.query('select xmin from noetl.access_token')
    await lastUsed()
    const { rows: after } = await server().core.shards.cluster.query('select xmin from noetl.access_token')
    expect(after).toEqual(before)
    const first = await lastUsed()
    now += 60_000
    await expect.poll(lastUsed).not.toBe(first)
  })
})

describe('a browser session', () => {
  test('is a cookie that scripts cannot read and that counts for reading only', async () => {
    const token = await aToken('admin')
    const { call } = face()
    const opened = await call(token, 'POST', '/api/session')
    expect(opened.body).toMatchObject({ role: 'admin' })
    const header = String(opened.headers['set-cookie'])
    expect(header).toMatch(/^noetl_session=noetl_\d+_[^;]+; Path=\/api; HttpOnly; SameSite=Strict$/)
    const headers = { cookie: `theme=dark; ${header.split(';')[0] ?? ''}` }
    expect((await call(null, 'GET', '/api/session', { headers })).body).toMatchObject({ name: 'a admin' })
    expect((await call(null, 'GET', '/api/executions/1/stream', { headers })).status).toBe(404)
    expect((await call(null, 'POST', '/api/executions/1/cancel', { headers })).status).toBe(401)
    expect((await call(null, 'DELETE', '/api/tokens/1', { headers })).status).toBe(401)
    expect((await call(null, 'DELETE', '/api/session', { headers })).headers['set-cookie']).toContain(
      'Max-Age=0',
    )
  })

  test('of another server on this machine counts as none', async () => {
    const headers = { cookie: `noetl_session=${WRONG}` }
    expect((await face().call(null, 'GET', '/api/session', { headers })).body).toMatchObject({
      name: 'anonymous',
    })
    await aToken('viewer')
    const { status, body } = await face().call(null, 'GET', '/api/session', { headers })
    expect([status, body['error']]).toEqual([401, expect.stringContaining('needs an access token')])
  })

  test('needs a token to remember', async () => {
    expect((await face().call(null, 'POST', '/api/session')).status).toBe(400)
  })

  test('is never read from the address', async () => {
    const token = await aToken('admin')
    expect((await face().call(null, 'GET', `/api/session?access_token=${token}`)).status).toBe(401)
  })
})

describe('roles', () => {
  const CASES: readonly [method: string, path: string, roles: readonly Role[]][] = [
    ['GET', '/api/executions', ROLES],
    ['GET', '/api/credentials', ROLES],
    ['POST', '/api/catalog/register', ['operator', 'admin']],
    ['POST', '/api/executions/1/cancel', ['operator', 'admin']],
    ['POST', '/api/execute', ['operator', 'admin', 'worker']],
    ['POST', '/api/vars/1', ['operator', 'admin', 'worker']],
    ['POST', '/api/commands/lease', ['admin', 'worker']],
    ['POST', '/api/events', ['admin', 'worker']],
    ['GET', '/api/commands/1', ['admin', 'worker']],
    ['POST', '/api/internal/plugins/code', ['operator', 'admin']],
    ['GET', '/api/internal/plugins/code', ['admin', 'worker']],
    ['PUT', '/api/internal/objects/file', ['admin', 'worker']],
    ['GET', '/api/tokens', ['admin']],
    ['POST', '/api/tokens', ['admin']],
    ['GET', '/api/audit', ['admin']],
    ['GET', '/api/internal/wallet/key-status', ['admin']],
    ['GET', '/api/internal/secret-audit', ['admin']],
  ]

  test('get what the table says and nothing more', async () => {
    const tokens = await tokensOf(server())
    const { call } = face()
    for (const [method, path, roles] of CASES) {
      const allowed: Role[] = []
      for (const role of ROLES) {
        const { status } = await call(tokens[role], method, path, method === 'GET' ? {} : { body: '[]' })
        if (status !== 403) allowed.push(role)
        expect(status).not.toBe(401)
        expect(status).toBeLessThan(500)
      }
      expect({ method, path, allowed }).toEqual({
        method,
        path,
        allowed: ROLES.filter((role) => roles.includes(role)),
      })
    }
  })

  test('a refusal names the role that is needed and the one there is', async () => {
    const { viewer } = await tokensOf(server())
    const { body } = await face().call(viewer, 'POST', '/api/execute', { body: {} })
    expect(body['error']).toBe("This needs the role operator, admin or worker; 'viewer' has the role viewer")
  })
})

describe('internal routes (3)', () => {
  const PATH = '/api/internal/wallet/key-status'

  test('are opened by the internal token and by an admin, not by the lack of tokens', async () => {
    const { call } = face()
    const anonymous = await call(null, 'GET', PATH)
    expect([anonymous.status, anonymous.body['error']]).toEqual([
      403,
      'Internal API requires Authorization header with Bearer token.',
    ])
    expect((await call(INTERNAL_TOKEN, 'GET', PATH)).status).toBe(200)
    const { admin, worker } = await tokensOf(server())
    expect((await call(admin, 'GET', PATH)).status).toBe(200)
    expect((await call(worker, 'GET', PATH)).body['error']).toContain("'worker' has the role worker")
    expect((await call(WRONG, 'GET', PATH)).body['error']).toBe(
      'Invalid service-account token for /api/internal/*.',
    )
  })

  test('are not the only ones that the internal token opens: those that say so are, too', async () => {
    const { call } = face({ mode: 'required' })
    const body = { path: 'tests/nothing' }
    expect((await call(INTERNAL_TOKEN, 'POST', '/api/catalog/delete', { body })).status).toBe(404)
    expect((await call(INTERNAL_TOKEN, 'POST', '/api/catalog/restore', { body })).status).toBe(404)
    for (const path of ['/api/internal/plugins/missing', '/api/internal/objects/missing'])
      expect((await call(INTERNAL_TOKEN, 'GET', path)).status).toBe(404)
    expect((await call(INTERNAL_TOKEN, 'POST', '/api/catalog/list', { body: {} })).status).toBe(401)
  })

  test('answer 503 when no internal token is configured, except to an admin', async () => {
    const { admin } = await tokensOf(server())
    const { call } = face({ internalToken: null })
    const refused = await call(INTERNAL_TOKEN, 'GET', PATH)
    expect([refused.status, refused.body['code']]).toEqual([503, 'unavailable'])
    expect((await call(admin, 'GET', PATH)).status).toBe(200)
  })

  test('the internal token opens nothing else', async () => {
    expect((await face().call(INTERNAL_TOKEN, 'GET', '/api/executions')).status).toBe(401)
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
      expect((await call(WRONG, 'GET', '/api/session', { from })).status).toBe(401)
    const blocked = await call(WRONG, 'GET', '/api/session', { from })
    expect([blocked.status, blocked.body['code'], blocked.headers['retry-after']]).toEqual([
      429,
      'too_many_requests',
      '2',
    ])
    expect((await call(fresh, 'GET', '/api/session', { from })).status).toBe(429)
    expect((await call(token, 'GET', '/api/session', { from })).status).toBe(200)
    expect((await call(WRONG, 'GET', '/api/internal/secret-audit', { from })).status).toBe(429)
    expect((await call(WRONG, 'GET', '/api/session', { from: '10.1.1.2' })).status).toBe(401)
    expect((await call(null, 'GET', '/api/health', { from })).status).toBe(200)
    now += 2000
    expect((await call(fresh, 'GET', '/api/session', { from })).status).toBe(200)
  })
})

describe('every answer', () => {
  test.each([
    ['GET', '/api/health'],
    ['GET', '/api/executions'],
    ['GET', '/api/nothing'],
    ['GET', '/%'],
    ['POST', '/api/execute'],
  ])('%s %s says how browsers must treat it', async (method, path) => {
    const { headers } = await face().call(null, method, path)
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    })
    expect(headers['access-control-allow-origin']).toBeUndefined()
  })

  test('of a page has the policy of the page', async () => {
    const { headers } = await face().call(null, 'GET', '/api/docs')
    expect(headers['content-security-policy']).toContain('script-src')
  })
})

describe('origins', () => {
  const origin = 'https://ui.example.com'
  const ask = { origin, 'access-control-request-method': 'DELETE' }

  test('that are configured are answered, also before they show a token', async () => {
    await aToken('viewer')
    const { call } = face({ origins: [origin] })
    const preflight = await call(null, 'OPTIONS', '/api/tokens/1', { headers: ask })
    expect(preflight.status).toBe(204)
    expect(preflight.headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'origin' })
    expect(preflight.headers['access-control-allow-methods']).toContain('DELETE')
    expect(preflight.headers['access-control-allow-headers']).toContain('last-event-id')
    expect(preflight.headers['access-control-allow-credentials']).toBeUndefined()
    const refused = await call(null, 'GET', '/api/executions', { headers: { origin } })
    expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, origin])
  })

  test('that are not get nothing', async () => {
    const { call } = face({ origins: ['https://other.example.com'] })
    const preflight = await call(null, 'OPTIONS', '/api/executions', { headers: ask })
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([405, undefined])
    const answer = await face().call(null, 'GET', '/api/executions', { headers: { origin } })
    expect([answer.headers['access-control-allow-origin'], answer.headers['vary']]).toEqual([
      undefined,
      undefined,
    ])
  })
})
