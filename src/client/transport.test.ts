import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Certificate, Issuer } from '../../test/support/certificates.ts'
import { createIssuer, hasOpenssl } from '../../test/support/certificates.ts'
import { answer, startFakeServer } from './testing/fake-server.ts'
import { createTransport } from './transport.ts'
import { WrongServer } from './wrong-server.ts'

describe('a token', () => {
  test('is sent with every request, streams included (3)', async () => {
    const server = await startFakeServer((_request, response) => answer(response, 200, {}))
    const transport = createTransport(server.url, { token: ' noetl_1_x ' })
    await transport.json('POST', '/a', { body: {} })
    await (await transport.open('/b', { headers: { accept: 'text/event-stream' } })).text()
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer noetl_1_x',
      'Bearer noetl_1_x',
    ])
    expect(server.requests[1]?.headers.accept).toBe('text/event-stream')
  })

  test('that is absent is not sent', async () => {
    const server = await startFakeServer((_request, response) => answer(response, 200, {}))
    await createTransport(server.url).json('GET', '/a')
    expect(server.requests[0]?.headers.authorization).toBeUndefined()
  })

  test.each(['', '  ', 'a b', 'tökén', 'a\r\nx: y'])('%j is refused before it is sent', (token) => {
    expect(() => createTransport('http://127.0.0.1:1', { token })).toThrow(/--token, NOETL_TOKEN/)
  })

  test('that is missing or wrong is said with how to give one (3)', async () => {
    const server = await startFakeServer((_request, response) =>
      answer(response, 401, { error: "The token 'ci' was revoked", status: 401, code: 'unauthorized' }),
    )
    await expect(createTransport(server.url).json('GET', '/a')).rejects.toMatchObject({
      code: 'unauthorized',
      message: expect.stringMatching(
        /needs an access token: .*--token or NOETL_TOKEN.*noetl token create/,
      ) as string,
    })
    await expect(createTransport(server.url, { token: 'x' }).open('/a')).rejects.toMatchObject({
      code: 'unauthorized',
      message: `${server.url} refuses the token (--token, NOETL_TOKEN): The token 'ci' was revoked`,
    })
  })

  test('of another role is refused in the words of the server', async () => {
    const error = "This needs the role admin; 'ci' has the role viewer"
    const server = await startFakeServer((_request, response) =>
      answer(response, 403, { error, status: 403, code: 'forbidden' }),
    )
    await expect(createTransport(server.url, { token: 'x' }).json('DELETE', '/a')).rejects.toMatchObject({
      code: 'forbidden',
      message: error,
    })
  })
})

describe.skipIf(!hasOpenssl)('certificates', () => {
  let issuer: Issuer
  let named: Certificate
  let client: Certificate
  const closing: (() => void)[] = []
  beforeAll(() => {
    issuer = createIssuer()
    named = issuer.issue('server', 'DNS:localhost')
    client = issuer.issue('client', 'DNS:client')
  })
  afterAll(() => {
    for (const close of closing) close()
    issuer.remove()
  })

  const pem = (file: string): string => readFileSync(file, 'utf8')

  const start = async (options: { readonly ca?: string } = {}): Promise<number> => {
    const server = createServer(
      {
        cert: pem(named.cert),
        key: pem(named.key),
        ...(options.ca === undefined
          ? {}
          : { ca: pem(options.ca), requestCert: true, rejectUnauthorized: true }),
      },
      (request, response) => {
        void request.toArray().then((chunks) =>
          response.writeHead(200, { 'content-type': 'application/json' }).end(
            JSON.stringify({
              method: request.method,
              body: Buffer.concat(chunks as Buffer[]).toString(),
            }),
          ),
        )
      },
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => {
      server.close()
      server.closeAllConnections()
    })
    return (server.address() as AddressInfo).port
  }

  test('of an issuer that nobody knows are refused, and it is said what helps', async () => {
    const port = await start()
    await expect(createTransport(`https://localhost:${port}`).json('GET', '/')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('NOETL_TLS_CA') as string,
    })
  })

  test('of the given issuer are accepted under their name only', async () => {
    const port = await start()
    const tls = { ca: pem(issuer.cert) }
    const transport = createTransport(`https://localhost:${port}`, { tls })
    expect(await transport.json('POST', '/', { body: { a: 1 } })).toEqual({ method: 'POST', body: '{"a":1}' })
    await expect(createTransport(`https://127.0.0.1:${port}`, { tls }).json('GET', '/')).rejects.toThrow(
      /ALTNAME/,
    )
  })

  test('that are pinned are accepted under any name, and no other of the same issuer', async () => {
    const port = await start()
    const pinned = createTransport(`https://127.0.0.1:${port}`, { tls: { pinned: pem(named.cert) } })
    expect(await pinned.json('GET', '/')).toMatchObject({ method: 'GET' })
    const other = createTransport(`https://127.0.0.1:${port}`, { tls: { pinned: pem(client.cert) } })
    await expect(other.json('GET', '/')).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('of clients are shown to a server that asks for them', async () => {
    const port = await start({ ca: issuer.cert })
    const url = `https://localhost:${port}`
    const ca = pem(issuer.cert)
    await expect(createTransport(url, { tls: { ca } }).json('GET', '/')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('NOETL_TLS_CLIENT_CERT') as string,
    })
    const tls = { ca, cert: pem(client.cert), key: pem(client.key) }
    expect(await createTransport(url, { tls }).json('GET', '/')).toMatchObject({ method: 'GET' })
  })

  test('a request that is given up is given up', async () => {
    const port = await start()
    const transport = createTransport(`https://localhost:${port}`, { tls: { ca: pem(issuer.cert) } })
    const signal = AbortSignal.abort()
    await expect(transport.json('GET', '/', { signal })).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('an answer that time will not change (4)', () => {
  const problemOf = async (url: string): Promise<unknown> =>
    createTransport(url)
      .json('GET', '/a')
      .catch((error: unknown) => error)

  test.each([
    [200, '<html>'],
    [404, 'no such page'],
    [401, 'who are you?'],
    [404, '{"message":"no such page"}'],
    [404, '{"error":"no route GET /a"}'],
    [404, '{"error":"no route matched GET /a","status":404,"code":"not_found"}'],
  ])('is %i %s of a stranger', async (status, body) => {
    const { url } = await startFakeServer((_request, response) => answer(response, status, body))
    expect(await problemOf(url)).toBeInstanceOf(WrongServer)
  })

  test('is told with the address, what was said there, and where the address comes from', async () => {
    const words = { error: `no route GET /a ${'x'.repeat(300)}` }
    const { url } = await startFakeServer((_request, response) => answer(response, 404, words))
    expect(await problemOf(url)).toMatchObject({
      message: `${url} answered 404 (${words.error.slice(0, 200)}…); is it a NoETL server? The address is that of --server or NOETL_SERVER_URL`,
    })
  })

  test('is one in another language', async () => {
    const { url } = await startFakeServer((_request, response) => answer(response, 200, {}))
    const problem = await problemOf(url.replace('http:', 'https:'))
    expect(problem).toBeInstanceOf(WrongServer)
    const secure = url.replace('http:', 'https:')
    expect(problem).toMatchObject({
      message: `No answer from ${secure} (it does not speak TLS; write ${url})`,
    })
    expect(await problemOf('http://127.0.0.1:9')).toBeInstanceOf(WrongServer)
  })

  test.each([502, 503])('is not %i of what stands before a server', async (status) => {
    const { url } = await startFakeServer((_request, response) => answer(response, status, 'Bad gateway'))
    const problem = await problemOf(url)
    expect(problem).not.toBeInstanceOf(WrongServer)
    expect(problem).toMatchObject({ code: 'unavailable' })
  })

  test('is not a refusal of the server itself, nor its silence', async () => {
    const refusing = await startFakeServer((_request, response) =>
      answer(response, 404, { error: 'no such thing', status: 404, code: 'not_found' }),
    )
    expect(await problemOf(refusing.url)).not.toBeInstanceOf(WrongServer)
    await refusing.close()
    expect(await problemOf(refusing.url)).not.toBeInstanceOf(WrongServer)
  })
})

test('a server whose database is away is said to be one', async () => {
  const { url } = await startFakeServer((_request, response) =>
    answer(response, 503, { status: 'unhealthy', database: 'disconnected' }),
  )
  await expect(createTransport(url).json('GET', '/api/health')).rejects.toMatchObject({
    code: 'unavailable',
    message: `${url} is there, but its database is not`,
  })
})
