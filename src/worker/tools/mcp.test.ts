/** Against real MCP servers: over HTTP, and as a program. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { JsonObject } from '../../contract/json.ts'
import { aCall } from '../test-support.ts'
import { ToolFailure } from '../tool-failure.ts'
import type { ToolCall } from '../tool.ts'
import { createMcpTool } from './mcp.ts'
import { startMcpServer, type TestMcpServer } from './mcp/test-support.ts'

let server: TestMcpServer
beforeAll(async () => {
  server = await startMcpServer()
})
afterAll(() => server.close())

const tool = () =>
  createMcpTool({
    settings: { NOETL_MCP_WEB_SHOP_ENDPOINT: server.url },
    env: { PATH: process.env['PATH'] },
  })
const run = (config: JsonObject, over: Parameters<typeof aCall>[1] = {}) => tool().run(aCall(config, over))
const overHttp = (config: JsonObject, over: Parameters<typeof aCall>[1] = {}) =>
  run({ endpoint: server.url, ...config }, over)

describe('over HTTP', () => {
  test('calls a tool and gives its text and its data', async () => {
    expect(await overHttp({ tool: 'add', arguments: { a: 2, b: 3 } })).toMatchObject({
      outcome: 'ok',
      data: {
        status: 'ok',
        endpoint: server.url,
        method: 'tools/call',
        tool: 'add',
        arguments: { a: 2, b: 3 },
        text: 'The sum is 5',
        json: { sum: 5 },
        result: { structuredContent: { sum: 5 } },
        initialize: { serverInfo: { name: 'shop' } },
      },
    })
  })

  test('the arguments are the input when the block has none; those of a loop are left out (rule 3)', async () => {
    const call = aCall(
      { endpoint: server.url, tool: 'add' },
      { input: { a: 1, b: 1, item: 9, _index: 0, _total: 2 } },
    )
    const inLoop: ToolCall = {
      ...call,
      command: {
        ...call.command,
        meta: { iteration_index: 0, iteration_total: 2 },
        context: { ...call.command.context, args: { item: 9 } },
      },
    }
    expect(await tool().run(inLoop)).toMatchObject({ data: { arguments: { a: 1, b: 1 }, json: { sum: 2 } } })
  })

  test('a session goes through the whole conversation and ends with it (rule 1)', async () => {
    const before = server.requests.length
    await overHttp({ tool: 'add', arguments: { a: 1, b: 1 } })
    const made = server.requests.slice(before)
    expect(made.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'DELETE'])
    const ids = made.map(({ headers }) => headers['mcp-session-id'])
    expect(new Set(ids.slice(1)).size).toBe(1)
    expect(made[2]?.headers['mcp-protocol-version']).toBe('2025-03-26')
    expect(server.sessions.size).toBe(0)
  })

  test('lists tools, and asks whether the server is there', async () => {
    const { data } = await overHttp({ method: 'tools/list' })
    expect(data).toMatchObject({
      status: 'ok',
      tools: expect.arrayContaining([expect.objectContaining({ name: 'add' })]) as unknown,
    })
    expect(await overHttp({ method: 'health' })).toMatchObject({
      outcome: 'ok',
      data: { status: 'ok', method: 'health' },
    })
  })

  test('a tool that fails is an error, with its data (rule 2)', async () => {
    expect(await overHttp({ tool: 'fail', arguments: {} })).toMatchObject({
      outcome: 'error',
      data: { status: 'error', text: 'out of stock' },
      error: {
        kind: 'tool',
        code: 'MCP_TOOL_ERROR',
        message: 'The tool fail failed: out of stock',
        retryable: false,
      },
    })
  })

  test('a method that the server does not have is not found', async () => {
    const { error } = await overHttp({ method: 'frob/nicate' })
    expect(error).toMatchObject({ kind: 'not_found', code: 'MCP_-32601', retryable: false })
  })

  test('what the server logs meanwhile is output, and text that is JSON is data (rule 4)', async () => {
    const said: string[] = []
    const result = await overHttp(
      { tool: 'talk' },
      { log: (stream, text) => void said.push(`${stream}: ${text}`) },
    )
    expect(result).toMatchObject({ outcome: 'ok', data: { json: { said: true } } })
    expect(said).toEqual(['stderr: [info] half way\n'])
  })

  test('credentials and headers go with every request', async () => {
    const before = server.requests.length
    await overHttp({
      method: 'tools/list',
      auth: { type: 'bearer', token: 'key-1' },
      headers: { 'x-team': 'a' },
    })
    for (const { headers } of server.requests.slice(before)) {
      expect(headers).toMatchObject({ authorization: 'Bearer key-1', 'x-team': 'a' })
    }
  })

  test('an abort ends a call that waits, with its reason', async () => {
    const controller = new AbortController()
    const running = overHttp({ tool: 'wait' }, { signal: controller.signal })
    await server.untilWaiting()
    controller.abort(new ToolFailure({ kind: 'timeout', code: 'TIMEOUT', message: 'over', retryable: true }))
    expect(await running).toMatchObject({ outcome: 'error', error: { code: 'TIMEOUT' } })
    expect(server.sessions.size).toBe(0)
  })

  test('a server that answers in plain JSON is the same to a playbook', async () => {
    const plain = await startMcpServer({ asJson: true })
    expect(await run({ url: plain.url, tool: 'add', arguments: { a: 4, b: 4 } })).toMatchObject({
      data: { json: { sum: 8 } },
    })
    await plain.close()
  })

  test('a server is known by its name in the settings of the worker', async () => {
    expect(await run({ server: 'web-shop', method: 'health' })).toMatchObject({
      data: { server: 'web-shop', endpoint: server.url },
    })
    expect((await run({ server: 'other', method: 'health' })).error).toMatchObject({
      kind: 'config',
      message: expect.stringContaining('set NOETL_MCP_OTHER_ENDPOINT') as string,
    })
  })
})

describe('servers that misbehave', () => {
  let http: Server
  let answer: { status: number; headers?: Record<string, string>; body: string }
  beforeAll(async () => {
    http = createServer((_request, response) => {
      response.writeHead(answer.status, answer.headers).end(answer.body)
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => void http.close())
  const broken = () =>
    run({ endpoint: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, method: 'health' })

  test.each([
    [
      { status: 401, body: '{"error":"who are you"}' },
      { kind: 'auth', code: 'HTTP_401', retryable: false },
    ],
    [
      { status: 429, headers: { 'retry-after': '7' }, body: '' },
      { kind: 'rate_limit', code: 'HTTP_429', retryable: true, retry_after: 7 },
    ],
    [
      { status: 503, body: 'later' },
      { kind: 'server_error', code: 'HTTP_503', retryable: true },
    ],
    [
      { status: 200, body: 'hello' },
      { kind: 'parse', code: 'MCP_MALFORMED' },
    ],
    [
      { status: 200, body: '{"jsonrpc":"2.0","id":"other","result":1}' },
      { kind: 'parse', code: 'MCP_MALFORMED' },
    ],
    [
      { status: 200, headers: { 'content-type': 'text/event-stream' }, body: 'data: {"jsonrpc"' },
      { kind: 'parse', code: 'MCP_MALFORMED' },
    ],
    [
      { status: 200, body: '{"jsonrpc":"2.0","id":"initialize","error":{"code":-32603,"message":"boom"}}' },
      { kind: 'server_error', code: 'MCP_-32603', retryable: true },
    ],
  ])('%j is classified', async (given, expected) => {
    answer = given
    expect((await broken()).error).toMatchObject(expected)
  })

  test('nobody there is a matter of the connection', async () => {
    const gone = await startMcpServer()
    await gone.close()
    const { error } = await run({ endpoint: gone.url, method: 'health' })
    expect(error).toMatchObject({ kind: 'connection', code: 'CONN_REFUSED', retryable: true })
  })
})

describe('as a program', () => {
  const PROGRAM = fileURLToPath(new URL('mcp/testing/stdio-server.ts', import.meta.url))
  const command = (mode = 'good') => [process.execPath, PROGRAM, mode]

  test('is started, spoken to and ended', async () => {
    const said: string[] = []
    const result = await run(
      { command: command(), tool: 'echo', arguments: { text: 'hi' }, env: { PREFIX: '> ' } },
      { log: (_stream, text) => void said.push(text) },
    )
    expect(result).toMatchObject({
      outcome: 'ok',
      data: { text: '> hi', initialize: { serverInfo: { name: 'echo' } } },
    })
    expect(said.join('')).toContain('mode good')
  })

  test('one that ends without an answer says its last words', async () => {
    const { error } = await run({ command: command('broken'), method: 'health' })
    expect(error).toMatchObject({ kind: 'process', code: 'MCP_SERVER_ENDED', retryable: false })
    expect(error?.message).toContain('mode broken')
  })

  test('one that does not exist is named', async () => {
    const { error } = await run({ command: 'no-such-mcp-server', method: 'health' })
    expect(error).toMatchObject({ kind: 'config', code: 'PROGRAM_NOT_FOUND' })
  })

  test('an abort kills it', async () => {
    const controller = new AbortController()
    const running = run(
      { command: command(), tool: 'wait' },
      {
        signal: controller.signal,
        log: (_stream, text) => text.includes('waiting') && controller.abort(new Error('not wanted')),
      },
    )
    expect(await running).toMatchObject({ outcome: 'error', error: { message: 'not wanted' } })
  })
})

test.each<[JsonObject, string]>([
  [{}, 'needs `tool`'],
  [{ tool: 'x' }, 'needs `endpoint`, `server` or `command`'],
  [{ tool: 'x', endpoint: 'shop' }, 'endpoint must be an address'],
  [{ tool: 'x', arguments: 'text' }, 'arguments must be a mapping'],
])('refuses %j', async (config, message) => {
  const { error } = await run(config)
  expect(error).toMatchObject({ kind: 'config', retryable: false })
  expect(error?.message).toContain(message)
})
