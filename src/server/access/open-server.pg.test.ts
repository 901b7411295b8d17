/** A server that nobody has made a token for: whom it lets in, and under which names. Numbers are those of door.ts. */
import { describe, expect, test } from 'vitest'
import { useAccess, WRONG_TOKEN } from '../../../test/support/access-file.ts'
import { textOf } from '../../../test/support/api-server.ts'

const { face, aToken } = useAccess()

describe('an open server', () => {
  test('lets in whoever comes without credentials, as an admin', async () => {
    const { body } = await face().call(null, 'GET', '/api/session')
    expect(body).toEqual({ name: 'anonymous', role: 'admin', token_id: null, expires_at: null, open: true })
    expect((await face().call(null, 'GET', '/api/tokens')).status).toBe(200)
  })

  test('refuses a wrong token all the same (2)', async () => {
    const { status, headers, body } = await face().call(WRONG_TOKEN, 'GET', '/api/executions')
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
