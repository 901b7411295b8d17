/** A real MCP server as a program, for tests: it greets on standard output, logs, and echoes. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

process.stdout.write('welcome\n')
process.stderr.write(`mode ${process.argv[2] ?? 'none'}\n`)
if (process.argv[2] === 'broken') process.exit(3)

const server = new McpServer({ name: 'echo', version: '1.0.0' })
server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => ({
  content: [{ type: 'text', text: `${process.env['PREFIX'] ?? ''}${text}` }],
}))
server.registerTool('wait', {}, () => {
  process.stderr.write('waiting\n')
  return new Promise(() => undefined)
})
await server.connect(new StdioServerTransport())
