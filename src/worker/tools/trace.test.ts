/** What tools call appears under their command: the trace context goes along with requests and programs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { JsonObject } from '../../contract/json.ts'
import { toolTrace } from '../../contract/trace.ts'
import { aCall } from '../test-support.ts'
import type { Tool, ToolCall } from '../tool.ts'
import { createHttpTool } from './http.ts'
import { startTestServer, type TestServer } from './http/test-server.ts'
import { createPythonTool } from './python.ts'
import { createShellTool } from './shell.ts'

const CALLER = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'a=1' }
const OWN = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

let server: TestServer
const env = { ...process.env, TRACEPARENT: 'of the worker', TRACESTATE: 'of-the-worker=1' }
const http = createHttpTool()
const python = createPythonTool({ env, python: process.env['NOETL_PYTHON'] ?? 'python3' })
const shell = createShellTool({ env })

beforeAll(async () => {
  server = await startTestServer()
})
afterAll(async () => {
  await Promise.all([http.close(), python.close(), server.close()])
})

const callOf = (config: JsonObject, trace?: JsonObject): ToolCall => {
  const call = aCall(config)
  return trace === undefined ? call : { ...call, command: { ...call.command, meta: { trace } } }
}

/** Context and state as they arrive on the other side; null for what does not. */
type Arrived = readonly [parent: unknown, state: unknown]

const sent = async (call: ToolCall): Promise<Arrived> => {
  const { data } = await http.run({ ...call, config: { url: `${server.url}/echo`, ...call.config } })
  const { headers } = (data as JsonObject)['data'] as { headers: JsonObject }
  return [headers['traceparent'] ?? null, headers['tracestate'] ?? null]
}

const CODE = 'result = [os.environ.get(name) or None for name in ("TRACEPARENT", "TRACESTATE")]'
const seen = async (tool: Tool, config: JsonObject, call: ToolCall): Promise<Arrived> => {
  const { data } = await tool.run({ ...call, config: { ...config, ...call.config } })
  const [parent, state] = Array.isArray(data) ? data : ((data as JsonObject)['json'] as unknown[])
  return [parent, state === '' ? null : state]
}

const PRINTS = `printf '["%s", "%s"]' "$TRACEPARENT" "$TRACESTATE"`

describe.each<[name: string, arrives: (call: ToolCall) => Promise<Arrived>, own: JsonObject]>([
  ['http', sent, { headers: { Traceparent: OWN } }],
  ['python', (call) => seen(python, { code: CODE }, call), { env: { TRACEPARENT: OWN } }],
  ['shell', (call) => seen(shell, { command: PRINTS }, call), { env: { TRACEPARENT: OWN } }],
])('the %s tool', (_kind, arrives, own) => {
  test('hands on the trace of the caller with the span of the command', async () => {
    const call = callOf({}, CALLER)
    const { executionId, eventId } = call.command
    const { traceparent } = toolTrace(executionId, eventId, CALLER)
    expect(traceparent).toContain('4bf92f3577b34da6a3ce929d0e0e4736')
    expect(await arrives(call)).toEqual([traceparent, 'a=1'])
  })

  test('hands on the trace of the execution when no caller named one', async () => {
    const call = callOf({})
    const { executionId, eventId } = call.command
    expect(await arrives(call)).toEqual([toolTrace(executionId, eventId, undefined).traceparent, null])
  })

  test('leaves alone what the playbook sets itself', async () => {
    const [parent, state] = await arrives(callOf(own, CALLER))
    expect(parent).toBe(OWN)
    expect(state).not.toBe('a=1')
  })
})
