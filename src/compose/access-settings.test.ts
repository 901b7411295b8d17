import { expect, test } from 'vitest'
import { readAccessSettings } from './access-settings.ts'
import { announcedAccess } from './client-access.ts'
import type { Env } from './settings.ts'

test('without environment a server decides by its tokens, talks plainly, and to no other origin', () => {
  expect(readAccessSettings({})).toEqual({
    auth: 'auto',
    adminToken: null,
    corsOrigins: [],
    trustedProxies: null,
    tls: null,
    auditDays: 365,
  })
})

test('everything can be given', () => {
  expect(
    readAccessSettings({
      NOETL_AUTH: 'Required',
      NOETL_ADMIN_TOKEN: ` ${'t'.repeat(24)} `,
      NOETL_CORS_ORIGINS: 'https://A.example.com/, http://localhost:5173',
      NOETL_TRUSTED_PROXIES: '10.0.0.0/8',
      NOETL_TLS_CERT: 'c.pem',
      NOETL_TLS_KEY: 'k.pem',
      NOETL_TLS_CLIENT_CA: 'ca.pem',
      NOETL_AUDIT_DAYS: '30',
    }),
  ).toEqual({
    auth: 'required',
    adminToken: 't'.repeat(24),
    corsOrigins: ['https://a.example.com', 'http://localhost:5173'],
    trustedProxies: '10.0.0.0/8',
    tls: { cert: 'c.pem', key: 'k.pem', clientCa: 'ca.pem' },
    auditDays: 30,
  })
})

test('all origins are allowed only where every caller needs a token', () => {
  expect(() => readAccessSettings({ NOETL_CORS_ORIGINS: '*' })).toThrow('NOETL_AUTH=required')
  expect(readAccessSettings({ NOETL_CORS_ORIGINS: '*', NOETL_AUTH: 'required' }).corsOrigins).toEqual(['*'])
})

test.each([
  [{ NOETL_AUTH: 'maybe' }, "NOETL_AUTH must be one of auto, required, open, got 'maybe'"],
  [{ NOETL_ADMIN_TOKEN: 'short' }, 'at least 24 characters'],
  [{ NOETL_ADMIN_TOKEN: `${'x'.repeat(20)} ${'x'.repeat(20)}` }, 'without blanks'],
  [{ NOETL_CORS_ORIGINS: 'example.com' }, "'example.com' is not an origin"],
  [{ NOETL_CORS_ORIGINS: 'https://example.com/app' }, 'is not an origin'],
  [{ NOETL_CORS_ORIGINS: 'file:///x' }, 'is not an origin'],
  [{ NOETL_TLS_CERT: 'c.pem' }, 'belong together; NOETL_TLS_KEY is not set'],
  [{ NOETL_TLS_KEY: 'k.pem' }, 'belong together; NOETL_TLS_CERT is not set'],
  [{ NOETL_TLS_CLIENT_CA: 'ca.pem' }, 'needs NOETL_TLS_CERT and NOETL_TLS_KEY'],
  [{ NOETL_AUDIT_DAYS: '0' }, 'NOETL_AUDIT_DAYS'],
])('%j is refused with what is wrong', (env: Env, message) => {
  expect(() => readAccessSettings(env)).toThrow(message)
})

test('what the user gives wins over what the server left in its file', () => {
  const record = {
    url: 'x',
    kind: 'up',
    pid: 1,
    processStart: '',
    access: { token: 'local', tls: { pinned: 'p' } },
  } as const
  expect(announcedAccess({}, record)).toEqual({ token: 'local', tls: { pinned: 'p' } })
  expect(announcedAccess({ token: 'mine', tls: { cert: 'c', key: 'k' } }, record)).toEqual({
    token: 'mine',
    tls: { pinned: 'p', cert: 'c', key: 'k' },
  })
})
