/** Which route is open to whom. Numbers are those of admit.ts. */
import { describe, expect, test } from 'vitest'
import type { Role } from '../../contract/access.ts'
import { ROLES } from '../../contract/access.ts'
import { useAccess, WRONG_TOKEN } from '../../../test/support/access-file.ts'
import { tokensOf } from '../../../test/support/access-server.ts'
import { INTERNAL_TOKEN } from '../../../test/support/api-server.ts'

const { server, face } = useAccess()

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
    expect((await call(WRONG_TOKEN, 'GET', PATH)).body['error']).toBe(
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
