/** What every answer tells browsers, and which pages of other origins may read it. */
import { describe, expect, test } from 'vitest'
import { useAccess } from '../../../test/support/access-file.ts'

const { face, aToken } = useAccess()

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
