/** A real HTTP server for tests: every route shows one habit of servers that playbooks meet. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'

export interface TestServer {
  readonly url: string
  readonly port: number
  /** Requests so far, by path. */
  readonly requests: Map<string, number>
  /** Connections opened so far. */
  connections(): number
  /** The next request for this path, as soon as it is there. */
  nextRequest(path: string): Promise<Arrived>
  close(): Promise<void>
}

interface Arrived {
  /** Settles when the client went away before the answer. */
  readonly abandoned: Promise<void>
}

type Route = (request: IncomingMessage, response: ServerResponse, url: URL, seen: number) => void

const json = (
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof value === 'string' ? value : JSON.stringify(value))
}

const readAll = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('latin1')
}

const ITEMS = Array.from({ length: 7 }, (_, index) => ({ id: index + 1 }))

const compressed: Readonly<Record<string, (text: string) => Buffer>> = {
  gzip: (text) => gzipSync(text),
  br: (text) => brotliCompressSync(text),
  zstd: (text) => zstdCompressSync(text),
  deflate: (text) => deflateSync(text),
  'raw-deflate': (text) => deflateRawSync(text),
}

const routes: Readonly<Record<string, Route>> = {
  '/echo': (request, response, url) => {
    void readAll(request).then((body) =>
      json(response, {
        method: request.method,
        path: url.pathname,
        search: url.search,
        query: Object.fromEntries(url.searchParams),
        headers: request.headers,
        body,
      }),
    )
  },
  '/items': (_request, response, url) => {
    const [page, size] = [Number(url.searchParams.get('page') ?? 1), 3]
    const data = ITEMS.slice((page - 1) * size, page * size)
    json(response, { data, meta: { page, hasMore: page * size < ITEMS.length } })
  },
  '/cursor': (_request, response, url) => {
    const from = Number(url.searchParams.get('after') ?? 0)
    const items = ITEMS.slice(from, from + 3)
    json(response, { items, next: from + 3 < ITEMS.length ? from + 3 : null })
  },
  '/flaky': (_request, response, _url, seen) =>
    seen < 3 ? json(response, { error: 'try again' }, 503) : json(response, { ok: true }),
  '/limited': (_request, response, url) =>
    json(response, { error: 'slow down' }, 429, { 'retry-after': url.searchParams.get('wait') ?? '7' }),
  '/status': (_request, response, url) =>
    json(response, { why: 'asked' }, Number(url.searchParams.get('code'))),
  '/ids': (_request, response) => json(response, '{"id": 9007199254740993, "small": 12, "price": 1.5}'),
  '/text': (_request, response) => response.end('{"not": json'),
  '/latin': (_request, response) => {
    response.setHeader('content-type', 'text/plain; charset=iso-8859-1')
    response.end(Buffer.from([0x63, 0x61, 0x66, 0xe9]))
  },
  '/image': (_request, response) => {
    response.setHeader('content-type', 'image/png')
    response.end(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00]))
  },
  '/empty': (_request, response) => void response.writeHead(204).end(),
  '/cookies': (_request, response) => {
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    response.end('{}')
  },
  '/compressed': (_request, response, url) => {
    const by = url.searchParams.get('by') ?? 'gzip'
    response.setHeader('content-encoding', by.replace('raw-', ''))
    response.end((compressed[by] as (text: string) => Buffer)(JSON.stringify({ by })))
  },
  '/bomb': (_request, response) => {
    response.setHeader('content-encoding', 'gzip')
    response.end(gzipSync(Buffer.alloc(4_000_000)))
  },
  '/huge': (_request, response, url) => {
    const total = Number(url.searchParams.get('bytes'))
    if (url.searchParams.has('announced')) response.setHeader('content-length', total)
    let sent = 0
    const more = (): void => {
      while (sent < total && !response.destroyed) {
        sent += 65_536
        if (!response.write(Buffer.alloc(65_536, 'x'))) {
          response.once('drain', more)
          return
        }
      }
      response.end()
    }
    more()
  },
  '/slow': () => undefined,
  '/slow-body': (_request, response) => {
    response.writeHead(200)
    response.write('{"half":')
  },
  '/cut': (_request, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('{"half":')
    setImmediate(() => response.destroy())
  },
  '/reset': (request) => void request.socket.destroy(),
  '/close-once': (request, response, _url, seen) => {
    if (seen === 2) request.socket.resetAndDestroy()
    else json(response, { seen })
  },
  '/redirect': (_request, response, url) => {
    const left = Number(url.searchParams.get('times') ?? 0)
    const to = url.searchParams.get('to') ?? '/echo'
    const code = Number(url.searchParams.get('code') ?? 302)
    const location = left > 1 ? `/redirect?times=${left - 1}&code=${code}&to=${encodeURIComponent(to)}` : to
    response.writeHead(code, { location }).end('moved')
  },
}

export const startTestServer = async (
  options: { readonly tls?: { readonly key: string; readonly cert: string } } = {},
): Promise<TestServer> => {
  const requests = new Map<string, number>()
  let connections = 0
  const awaited = new Map<string, (arrived: Arrived) => void>()
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '/', 'http://server')
    const seen = (requests.get(url.pathname) ?? 0) + 1
    requests.set(url.pathname, seen)
    const { promise: abandoned, resolve: abandon } = Promise.withResolvers<void>()
    response.on('close', () => {
      if (!response.writableFinished) abandon()
    })
    awaited.get(url.pathname)?.({ abandoned })
    awaited.delete(url.pathname)
    const route = routes[url.pathname]
    if (route === undefined) json(response, { error: 'no such route' }, 404)
    else route(request, response, url, seen)
  }
  const server = options.tls === undefined ? createServer(serve) : createTlsServer(options.tls, serve)
  server.on('connection', () => (connections += 1))
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests,
    connections: () => connections,
    nextRequest: (path) => new Promise((resolve) => awaited.set(path, resolve)),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
