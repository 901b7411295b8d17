/** The wrong language at the other end of a connection, and what is said about it. */
import { readFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import { connect, createServer as createTcpServer } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Certificate, Issuer } from '../../test/support/certificates.ts'
import { createIssuer, hasOpenssl } from '../../test/support/certificates.ts'
import { connectionProblem } from './connection-problem.ts'
import { speaksTls } from './speaks-tls.ts'
import { collect } from './testing/collect.ts'
import { startFakeServer } from './testing/fake-server.ts'
import type { ClientOptions } from './transport.ts'
import { createTransport } from './transport.ts'
import { WrongServer } from './wrong-server.ts'

const listening = new Set<Server>()
const sockets = new Set<Socket>()

afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await Promise.all([...listening].map((server) => new Promise((resolve) => server.close(resolve))))
  listening.clear()
})

const portOf = async (server: Server): Promise<number> => {
  listening.add(server)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const problemOf = (url: string, access: ClientOptions = {}): Promise<Error> =>
  createTransport(url, access)
    .json('GET', '/api/health')
    .then(
      () => new Error('it answered'),
      (error: Error) => error,
    )

const WHENCE = 'The address is that of --server or NOETL_SERVER_URL'

describe.skipIf(!hasOpenssl)('plain HTTP where TLS is spoken', () => {
  let issuer: Issuer
  let certificate: Certificate
  beforeAll(() => {
    issuer = createIssuer()
    certificate = issuer.issue('server', 'DNS:localhost')
  })
  afterAll(() => issuer.remove())

  const startTls = (options: { requestCert?: boolean } = {}): Promise<number> => {
    const pem = { cert: readFileSync(certificate.cert), key: readFileSync(certificate.key) }
    const ca = options.requestCert === true ? { ca: readFileSync(issuer.cert) } : {}
    return portOf(createTlsServer({ ...pem, ...ca, ...options }, (_request, response) => response.end('{}')))
  }

  test('is told with the address to write, for every way to ask', async () => {
    const port = await startTls()
    for (const host of ['127.0.0.1', 'localhost']) {
      const url = `http://${host}:${port}`
      const message = `${url} speaks TLS, not plain HTTP; write https://${host}:${port}. ${WHENCE}`
      expect(await problemOf(url)).toMatchObject({ name: 'WrongServer', code: 'unavailable', message })
      const { json, open } = createTransport(url)
      await expect(open('/api/events')).rejects.toMatchObject({ message })
      await expect(json('POST', '/api/execute', { body: { path: 'a' } })).rejects.toMatchObject({ message })
    }
  })

  test('is told, too, by servers that let in only those with a certificate', async () => {
    const port = await startTls({ requestCert: true })
    expect((await problemOf(`http://127.0.0.1:${port}`)).message).toContain('speaks TLS, not plain HTTP')
  })

  test('is told where the server answers 400 before it hangs up', async () => {
    const tls = await startTls()
    const front = createTcpServer((socket) => {
      socket.once('data', (first: Buffer) => {
        if (first[0] === 0x16) relay(socket, tls, first)
        else socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\nClient sent an HTTP request')
      })
    })
    const url = `http://127.0.0.1:${await portOf(front)}`
    expect((await problemOf(url)).message).toContain(`write ${url.replace('http:', 'https:')}`)
  })
})

const relay = (socket: Socket, port: number, first: Buffer): void => {
  const onward = connect(port, '127.0.0.1')
  onward.on('error', () => socket.destroy())
  onward.write(first)
  socket.pipe(onward).pipe(socket)
}

describe('TLS where plain HTTP is spoken', () => {
  test.each([
    ['with the issuers of the system', {}],
    ['with certificates of its own', { tls: { ca: '' } }],
  ])('is told with the address to write, %s', async (_name, access) => {
    const { url } = await startFakeServer((_request, response) => response.end('{}'))
    const secure = url.replace('http:', 'https:')
    const problem = await problemOf(secure, access)
    expect(problem).toBeInstanceOf(WrongServer)
    expect(problem.message).toBe(`No answer from ${secure} (it does not speak TLS; write ${url})`)
  })
})

describe('a connection that breaks', () => {
  test('is no other language: it may come back', async () => {
    const url = `http://127.0.0.1:${await portOf(createTcpServer((socket) => socket.destroy()))}`
    const problem = await problemOf(url)
    expect(problem).not.toBeInstanceOf(WrongServer)
    expect(problem).toMatchObject({
      code: 'unavailable',
      message: `No answer from ${url} (the connection broke)`,
    })
  })

  test('midway is told as that, however the answer is read', async () => {
    const { url } = await startFakeServer((_request, response) =>
      response.writeHead(200, { 'content-length': '9' }).write('{', () => response.destroy()),
    )
    const { json, text, bytes } = createTransport(url)
    const problem = {
      code: 'unavailable',
      message: `The connection to ${url} broke before its answer was whole`,
    }
    await expect(json('GET', '/a')).rejects.toMatchObject(problem)
    await expect(text('/a')).rejects.toMatchObject(problem)
    await expect(bytes('/a').then(collect)).rejects.toMatchObject(problem)
  })

  test('is not examined for those who left', async () => {
    const left = new Error('left')
    const signal = AbortSignal.abort(left)
    expect(await connectionProblem('http://127.0.0.1:9', left, signal)).toBe(left)
  })

  test('is not waited for: a server that keeps silent does not speak TLS', async () => {
    const port = await portOf(createTcpServer(() => undefined))
    expect(await speaksTls(`http://127.0.0.1:${port}`, 20)).toBe(false)
  })
})

describe('a server that sends elsewhere', () => {
  test.each([
    ['https://box.example/api/health', 'https://box.example'],
    ['https://box.example/noetl/api/health?x=1', 'https://box.example/noetl'],
    ['https://login.example/sign-in', 'https://login.example/sign-in'],
  ])('to %s is not followed, but told with the address to write', async (location, fix) => {
    const { url, requests } = await startFakeServer((_request, response) =>
      response.writeHead(301, { location }).end(),
    )
    const problem = await problemOf(url, { token: 'secret' })
    expect(problem).toBeInstanceOf(WrongServer)
    expect(problem.message).toBe(`${url} redirects to ${fix}; write that. ${WHENCE}`)
    expect(requests).toHaveLength(1)
  })

  test('and back to itself is a stranger', async () => {
    const { url } = await startFakeServer((_request, response) =>
      response.writeHead(302, { location: '/api/health' }).end(),
    )
    expect((await problemOf(url)).message).toContain('redirects to itself; is it a NoETL server?')
  })
})

test.each([
  ['box:8082', 'http://box:8082'],
  ['noetl.example', 'http://noetl.example'],
  ['', 'http://127.0.0.1:8082'],
  ['ftp://box', 'http://127.0.0.1:8082'],
])('an address that is none, %j, is told with one that is: %s', (given, example) => {
  expect(() => createTransport(given)).toThrow(
    `'${given}' is not the address of a server; write it like ${example}`,
  )
})
