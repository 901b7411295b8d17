import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Certificate, Issuer } from '../../test/support/certificates.ts'
import { createIssuer, hasOpenssl } from '../../test/support/certificates.ts'
import { loadClientTls, loadServerTls } from './tls.ts'

describe.skipIf(!hasOpenssl)('certificates from files', () => {
  let issuer: Issuer
  let server: Certificate
  let directory: string
  let garbage: string

  beforeAll(() => {
    issuer = createIssuer()
    server = issuer.issue('server', 'DNS:localhost')
    directory = mkdtempSync(join(tmpdir(), 'noetl-tls-files-'))
    garbage = join(directory, 'garbage.pem')
    writeFileSync(garbage, 'not a certificate')
  })
  afterAll(() => {
    issuer.remove()
    rmSync(directory, { recursive: true })
  })

  test('are read when they belong together', () => {
    expect(loadServerTls(null)).toBeNull()
    expect(loadServerTls({ ...server, clientCa: null })).toMatchObject({ ca: null })
    expect(loadServerTls({ ...server, clientCa: issuer.cert })?.ca?.toString()).toContain('CERTIFICATE')
  })

  test('are refused with the name of the setting and the file when they cannot be used', () => {
    const load = (files: Partial<Certificate & { clientCa: string }>) => () =>
      loadServerTls({ ...server, clientCa: null, ...files })
    expect(load({ cert: '/nowhere.pem' })).toThrow(/NOETL_TLS_CERT: \/nowhere\.pem cannot be read/)
    expect(load({ cert: garbage })).toThrow(/NOETL_TLS_CERT: .*garbage\.pem is not in PEM format/)
    expect(load({ key: garbage })).toThrow(/NOETL_TLS_KEY: .*garbage\.pem is not in PEM format/)
    expect(load({ clientCa: garbage })).toThrow(/NOETL_TLS_CLIENT_CA: .* is not in PEM format/)
    expect(load({ key: issuer.key })).toThrow(/does not belong to the certificate/)
  })

  test('of clients are read one by one, a certificate with its key only', () => {
    expect(loadClientTls({})).toBeUndefined()
    expect(loadClientTls({ NOETL_TLS_CA: issuer.cert })?.ca).toContain('CERTIFICATE')
    const both = { NOETL_TLS_CLIENT_CERT: server.cert, NOETL_TLS_CLIENT_KEY: server.key }
    expect(loadClientTls(both)).toMatchObject({
      cert: expect.any(String) as string,
      key: expect.any(String) as string,
    })
    expect(() => loadClientTls({ NOETL_TLS_CLIENT_CERT: server.cert })).toThrow('belong together')
  })
})
