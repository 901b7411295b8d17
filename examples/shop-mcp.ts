/**
 * A Model Context Protocol server for the example `mcp-tool`: it knows the prices of the shop.
 *
 *   npx node examples/shop-mcp.ts            listens at http://127.0.0.1:8098/mcp, the address that the example expects
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'

const DEFAULT_PORT = 8098
const PRICES: Readonly<Record<string, number>> = { tea: 4, coffee: 9 }

const createPriceServer = (): McpServer => {
  const server = new McpServer({ name: 'shop', version: '1.0.0' })
  server.registerTool(
    'price_of',
    {
      description: 'The price of a product',
      inputSchema: { product: z.string() },
      outputSchema: { product: z.string(), price: z.number() },
    },
    ({ product }) => {
      const price = PRICES[product]
      if (price === undefined)
        return { isError: true, content: [{ type: 'text', text: `${product} is not sold here` }] }
      const found = { product, price }
      return { content: [{ type: 'text', text: JSON.stringify(found) }], structuredContent: found }
    },
  )
  return server
}

export const startShopMcp = async (port = 0): Promise<{ url: string; close: () => Promise<void> }> => {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // Nothing is kept between requests, so each has a server of its own.
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
    response.on('close', () => void transport.close())
    await createPriceServer().connect(transport)
    await transport.handleRequest(request, response)
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

if (import.meta.main) {
  const { url } = await startShopMcp(Number(process.argv[2] ?? DEFAULT_PORT))
  process.stdout.write(`The prices are at ${url}. Ctrl-C closes it.\n`)
}
