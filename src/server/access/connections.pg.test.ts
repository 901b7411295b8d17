/** Connections themselves: encrypted ones, those that only certain clients may open, and slow ones. */
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../client/client.ts'
import type { Certificate, Issuer } from '../../../test/support/certificates.ts'
import { createIssuer, hasOpenssl } from '../../../test/support/certificates.ts'
import { useServer } from '../../../test/support/server-file.ts'
import type { ServerTls } from '../app.ts'
import { createApp } from '../app.ts'
import { refuseBrokenRequest } from '../http.ts'

const server = useServer()
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()))
})

const start = async (options: { tls?: ServerTls; trustedProxies?: string } = {}) => {
  const { core, leases } = server()
  const closing = new AbortController().signal
  const app = createApp({ core, leases, version: '0.0.0-test', closing, ...options })
  open.push({ close: async () => app.close() })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return { app, port: (app.server.address() as AddressInfo).port }
}

describe.skipIf(!hasOpenssl)('encrypted', () => {
  let issuer: Issuer
  let own: Certificate
  let client: Certificate
  beforeAll(() => {
    issuer = createIssuer()
    own = issuer.issue('server', 'DNS:localhost')
    client = issuer.issue('client', 'DNS:client')
  })
  afterAll(() => issuer.remove())
  const tlsOf = (ca: string | null): ServerTls => ({
    cert: readFileSync(own.cert),
    key: readFileSync(own.key),
    ca: ca === null ? null : readFileSync(ca),
  })

  test('the API is the same', async () => {
    const { port } = await start({ tls: tlsOf(null) })
    const tls = { ca: readFileSync(issuer.cert, 'utf8') }
    expect(await createClient(`https://localhost:${port}`, { tls }).health()).toMatchObject({ status: 'ok' })
  })

  test('clients without a certificate are refused where one is asked for', async () => {
    const { port } = await start({ tls: tlsOf(issuer.cert) })
    const ca = readFileSync(issuer.cert, 'utf8')
    const url = `https://localhost:${port}`
    await expect(createClient(url, { tls: { ca } }).health()).rejects.toMatchObject({ code: 'unavailable' })
    const tls = { ca, cert: readFileSync(client.cert, 'utf8'), key: readFileSync(client.key, 'utf8') }
    expect(await createClient(url, { tls }).health()).toMatchObject({ status: 'ok' })
  })
})

describe('slow', () => {
  test('requests have a limit, answers have none: streams and long polls live', async () => {
    const { app } = await start()
    const { requestTimeout, headersTimeout, timeout } = app.server as unknown as Record<string, number>
    expect(requestTimeout).toBe(120_000)
    expect(headersTimeout).toBe(20_000)
    expect(timeout).toBe(0)
  })

  test('requests are told that they were too slow', async () => {
    const { app, port } = await start()
    app.server.on('connection', (socket) =>
      refuseBrokenRequest(Object.assign(new Error('slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket),
    )
    const text = await new Promise<string>((resolve) => {
      let all = ''
      connect(port, '127.0.0.1')
        .on('data', (chunk: Buffer) => (all += chunk.toString()))
        .on('close', () => resolve(all))
    })
    expect(text).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
    expect(text).toContain('nosniff')
    expect(text).toContain('"status":408')
  })
})

describe('behind a proxy', () => {
  const addressOf = async (trustedProxies?: string): Promise<string | undefined> => {
    const { port } = await start(trustedProxies === undefined ? {} : { trustedProxies })
    await fetch(`http://127.0.0.1:${port}/api/credentials/none?include_data=true`, {
      headers: { 'x-forwarded-for': '203.0.113.9' },
    })
    const { rows } = await server().core.shards.cluster.query<{ address: string }>(
      'select address from noetl.audit order by audit_id desc limit 1',
    )
    return rows[0]?.address
  }

  test('the address of a caller is what a trusted proxy says, and nobody else', async () => {
    await server().post('/api/credentials', { name: 'x', data: {} })
    expect(await addressOf()).not.toBe('203.0.113.9')
    expect(await addressOf('127.0.0.1')).toBe('203.0.113.9')
  })
})
