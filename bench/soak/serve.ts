/** A server of the soak itself, on a port of its own. What cannot be handled is cut off. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Served {
  readonly url: string
  close(): void
}

export const serve = async (
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Served> => {
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
