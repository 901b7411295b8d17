/** An HTTP server that answers what a test tells it to. */
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach } from 'vitest'

export interface FakeRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

export interface FakeServer {
  readonly url: string
  /** What was asked so far. */
  readonly requests: readonly FakeRequest[]
  readonly close: () => Promise<void>
}

const open = new Set<FakeServer>()

afterEach(async () => {
  for (const server of open) await server.close()
})

export const startFakeServer = async (
  handler: (request: FakeRequest, response: ServerResponse) => void,
): Promise<FakeServer> => {
  const requests: FakeRequest[] = []
  const server = createServer((raw, response) => {
    void text(raw).then((body) => {
      const { method = '', url: path = '', headers } = raw
      const request = { method, path, headers, body: body === '' ? undefined : (JSON.parse(body) as unknown) }
      requests.push(request)
      handler(request, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const self: FakeServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        open.delete(self)
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  open.add(self)
  return self
}

/** Text is sent as it is, anything else as JSON. */
export const answer = (response: ServerResponse, status: number, body: unknown): void => {
  const content = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json' }).end(content)
}
