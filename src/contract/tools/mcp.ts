import { cwd, env } from './shared-fields.ts'
import type { ToolDeclaration } from './tool-declaration.ts'

export const mcp: ToolDeclaration = {
  kind: 'mcp',
  title: 'MCP',
  description:
    'Calls a tool of a Model Context Protocol server, lists its tools, or asks whether it is there. Its data is {status, text, json, result, …}.',
  fields: {
    endpoint: {
      title: 'Endpoint',
      type: 'text',
      description: 'Address of a server that speaks over HTTP.',
      aliases: ['url', 'server_url', 'base_url'],
      examples: ['http://localhost:8900/mcp'],
    },
    server: {
      title: 'Server',
      type: 'text',
      description: 'Name of a server; the worker knows its address from NOETL_MCP_<SERVER>_ENDPOINT.',
      examples: ['kubernetes'],
    },
    command: {
      title: 'Command',
      type: 'texts',
      description: 'Program and arguments of a server that speaks on standard input and output.',
      examples: [['uvx', 'mcp-server-time']],
    },
    env,
    cwd,
    headers: {
      title: 'Headers',
      type: 'mapping',
      description: 'Headers of every request.',
      examples: [{ 'x-team': 'data' }],
    },
    method: {
      title: 'Method',
      type: 'text',
      description: 'tools/call when left out.',
      examples: ['tools/call', 'tools/list', 'health'],
    },
    tool: {
      title: 'Tool',
      type: 'text',
      description: 'Name of the tool.',
      aliases: ['tool_name'],
      examples: ['search'],
    },
    arguments: {
      title: 'Arguments',
      type: 'mapping',
      description: 'Arguments of the tool; the input when left out.',
      examples: [{ query: '{{ workload.query }}' }],
    },
    params: {
      title: 'Parameters',
      type: 'mapping',
      description: 'Parameters of another method.',
      examples: [{}],
    },
    protocol_version: {
      title: 'Protocol version',
      type: 'text',
      description: 'Version of the protocol to begin with.',
      examples: ['2025-03-26'],
    },
    request_id: {
      title: 'Request id',
      type: 'text',
      description: 'Id of the request; 1 when left out.',
      examples: [1],
    },
  },
  examples: [
    { endpoint: 'http://localhost:8900/mcp', tool: 'search', arguments: { query: 'x' } },
    { server: 'kubernetes', method: 'tools/list' },
    { command: ['uvx', 'mcp-server-time'], tool: 'get_current_time', arguments: { timezone: 'UTC' } },
  ],
  data: {
    status: 'ok or error',
    'server, endpoint, method, tool, arguments': 'what was asked',
    text: 'texts of the answer, one per line',
    json: 'structured content, or the text when it is JSON',
    tools: 'of tools/list',
    result: 'the answer as it came',
    initialize: 'what the server said about itself',
  },
  notes: [
    'The limit of time is 60 seconds when none is given.',
    'A tool that fails (`isError`) is an error of kind `tool` with the code `MCP_TOOL_ERROR`; its data is there all the same. Other errors have the code `MCP_<number>` or `HTTP_<status>`.',
    'What the server logs meanwhile is output of the step.',
    'A server that is a program (`command`) ends with the step, and with the worker, also when that one is killed.',
  ],
}
