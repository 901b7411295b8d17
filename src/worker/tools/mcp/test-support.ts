/** A real MCP server for tests, over HTTP: a few tools, sessions, answers as events or as JSON. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'

export interface TestMcpServer {
  readonly url: string
  /** Sessions that were begun and not ended. */
  readonly sessions: ReadonlyMap<string, unknown>
  /** Method and headers of every request, oldest first. */
  readonly requests: readonly { readonly method: string; readonly headers: IncomingMessage['headers'] }[]
  /** Resolves when a call of the tool `wait` has arrived. */
  untilWaiting(): Promise<void>
  close(): Promise<void>
}

const createTools = (onWait: () => void): McpServer => {
  const server = new McpServer({ name: 'shop', version: '1.2.3' }, { capabilities: { logging: {} } })
  server.registerTool(
    'add',
    { description: 'Adds', inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({
      content: [{ type: 'text', text: `The sum is ${a + b}` }],
      structuredContent: { sum: a + b },
    }),
  )
  server.registerTool('fail', { description: 'Fails' }, () => ({
    content: [{ type: 'text', text: 'out of stock' }],
    isError: true,
  }))
  server.registerTool('talk', { description: 'Logs' }, async ({ sendNotification }) => {
    await sendNotification({ method: 'notifications/message', params: { level: 'info', data: 'half way' } })
    return { content: [{ type: 'text', text: '{"said": true}' }] }
  })
  server.registerTool('wait', { description: 'Never ends' }, () => {
    onWait()
    return new Promise(() => undefined)
  })
  return server
}

export const startMcpServer = async (options: { asJson?: boolean } = {}): Promise<TestMcpServer> => {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const requests: { method: string; headers: IncomingMessage['headers'] }[] = []
  let onWait = (): void => undefined
  const waiting = new Promise<void>((resolve) => (onWait = resolve))

  const begin = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: options.asJson ?? false,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    await createTools(() => onWait()).connect(transport)
    return transport
  }

  const http = createServer((request, response) => {
    requests.push({ method: request.method ?? '', headers: request.headers })
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    void (known === undefined ? begin() : Promise.resolve(known)).then((transport) =>
      transport.handleRequest(request, response),
    )
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    sessions,
    requests,
    untilWaiting: () => waiting,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}
