/** The token of a browser, kept in a cookie. */
import { describe, expect, test } from 'vitest'
import { useAccess, WRONG_TOKEN } from '../../../test/support/access-file.ts'

const { face, aToken } = useAccess()

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
    const headers = { cookie: `noetl_session=${WRONG_TOKEN}` }
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
