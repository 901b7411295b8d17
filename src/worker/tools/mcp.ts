/**
 * Calls a tool of a Model Context Protocol server, lists its tools, or asks whether it is there.
 *
 * 1. Each call is a conversation of its own: `initialize`, the request, the end. Servers over HTTP and programs that speak
 *    on standard input and output are the same to a playbook.
 * 2. A failure is an error, also when the server calls it a result (`isError`): then the data is still there.
 * 3. The arguments of a tool are `arguments`; without them, the input.
 * 4. What the server logs meanwhile is output of the call.
 */
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { mcp } from '../../contract/tools/mcp.ts'
import { parseJson } from '../../lib/exact-json.ts'
import { iterationInput } from '../iteration.ts'
import { timeoutFailure } from '../time-limit.ts'
import { configFailure, failed } from '../tool-failure.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import { credentialFields, isGiven, textEntries, textField } from './coerce.ts'
import { authorize } from './http/authorization.ts'
import { createHeaderList } from './http/header-list.ts'
import { openFetch, type OutboundFetch } from './http/outbound-fetch.ts'
import { createHttpChannel } from './mcp/http-channel.ts'
import type { McpChannel, RpcRequest } from './mcp/rpc.ts'
import { serverAddress } from './mcp/server-address.ts'
import { createStdioChannel } from './mcp/stdio-channel.ts'

export interface McpToolOptions {
  /** Where servers that are called by name live: `NOETL_MCP_<SERVER>_ENDPOINT`. */
  readonly settings: Readonly<Record<string, string | undefined>>
  /** What servers that are programs see as their environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly version?: string
  /** Fetches by the word of a playbook. */
  readonly fetch?: OutboundFetch
}

export interface McpTool extends Tool {
  run(call: ToolCall): Promise<ToolResult>
}

const PROTOCOL_VERSION = '2025-03-26'
const DEFAULT_LIMIT_MS = 60_000

const mappingOf = (value: Json | undefined, field: string): JsonObject => {
  if (!isGiven(value) || value === '') return {}
  if (isObject(value)) return value
  throw configFailure(`${field} must be a mapping`)
}

/** The input without the names of a loop, which are nobody's arguments. */
const ownInput = ({ input, command }: ToolCall): JsonObject => {
  const iteration = iterationInput(command) ?? {}
  return Object.fromEntries(Object.entries(input).filter(([name]) => !Object.hasOwn(iteration, name)))
}

interface Question extends RpcRequest {
  readonly tool: string | null
  readonly arguments: JsonObject | null
}

const questionOf = (call: ToolCall): Question => {
  const { config } = call
  const method = textField(config, 'method') ?? 'tools/call'
  const id = config['request_id']
  const base = { id: typeof id === 'number' || typeof id === 'string' ? id : 1, tool: null, arguments: null }
  if (method === 'health') return { ...base, method: 'ping' }
  const params = mappingOf(config['params'], 'params')
  if (method !== 'tools/call') return { ...base, method, params }
  const tool = textField(config, 'tool', 'tool_name') ?? textField(params, 'name')
  if (tool === null) throw configFailure('An mcp tool needs `tool`, the name of the tool to call')
  const given = config['arguments'] ?? params['arguments']
  const toolArguments = isGiven(given) ? mappingOf(given, 'arguments') : ownInput(call)
  return { ...base, method, params: { name: tool, arguments: toolArguments }, tool, arguments: toolArguments }
}

const textOfContent = (result: Json): string => {
  const content = isObject(result) && Array.isArray(result['content']) ? result['content'] : []
  return (content as readonly Json[])
    .flatMap((part) => (isObject(part) && typeof part['text'] === 'string' ? [part['text']] : []))
    .join('\n')
}

/** What the tool computed, as data: what it calls structured, else its text when that is JSON. */
const structured = (result: Json, text: string): { json?: Json } => {
  if (isObject(result) && isGiven(result['structuredContent'])) return { json: result['structuredContent'] }
  try {
    return { json: parseJson(text) as Json }
  } catch {
    return {}
  }
}

const initialize = async (channel: McpChannel, config: JsonObject, version: string): Promise<JsonObject> => {
  const answer = await channel.request({
    id: 'initialize',
    method: 'initialize',
    params: {
      protocolVersion: textField(config, 'protocol_version') ?? PROTOCOL_VERSION,
      capabilities: {},
      clientInfo: { name: 'noetl', version },
    },
  })
  const agreed = isObject(answer) ? answer : {}
  if (typeof agreed['protocolVersion'] === 'string') channel.agree(agreed['protocolVersion'])
  await channel.notify('notifications/initialized')
  return agreed
}

const resultOf = (
  call: ToolCall,
  channel: McpChannel,
  question: Question,
  result: Json,
  greeting: JsonObject,
) => {
  const text = textOfContent(result)
  const isError = isObject(result) && result['isError'] === true
  const data: JsonObject = {
    status: isError ? 'error' : 'ok',
    server: call.config['server'] ?? null,
    endpoint: channel.address,
    method: textField(call.config, 'method') ?? 'tools/call',
    ...(question.tool === null ? {} : { tool: question.tool, arguments: question.arguments }),
    text,
    result,
    ...structured(result, text),
    ...(isObject(result) && Array.isArray(result['tools']) ? { tools: result['tools'] } : {}),
    initialize: greeting,
  }
  if (!isError) return { outcome: 'ok', data } satisfies ToolResult
  const message = `The tool ${question.tool ?? question.method} failed: ${text === '' ? 'no reason given' : text}`
  return {
    outcome: 'error',
    data,
    error: { kind: 'tool', code: 'MCP_TOOL_ERROR', message: message.slice(0, 4_000), retryable: false },
  } satisfies ToolResult
}

export const createMcpTool = (options: McpToolOptions): McpTool => {
  const { settings, env, version = '0', fetch = openFetch } = options
  const open = ({ config, log }: ToolCall, signal: AbortSignal): McpChannel => {
    const address = serverAddress(config, settings)
    const tell = (text: string): void => log('stderr', text)
    if ('endpoint' in address) {
      const headers = createHeaderList(textEntries(config['headers'], 'headers'))
      authorize(headers, credentialFields(config))
      return createHttpChannel({ ...address, fetch, headers: headers.entries(), signal, log: tell })
    }
    const own = Object.fromEntries(textEntries(config['env'], 'env'))
    const cwd = textField(config, 'cwd')
    return createStdioChannel({ ...address, cwd, env: { ...env, ...own }, signal, log: tell })
  }

  const converse = async (call: ToolCall, signal: AbortSignal): Promise<ToolResult> => {
    const question = questionOf(call)
    const channel = open(call, signal)
    try {
      const greeting = await initialize(channel, call.config, version)
      return resultOf(call, channel, question, await channel.request(question), greeting)
    } finally {
      await channel.close()
    }
  }

  /** A limit of its own for a call that has none: a server may never answer. */
  const limited = async (call: ToolCall): Promise<ToolResult> => {
    const { config } = call
    if (isGiven(config['timeout']) || isGiven(config['timeout_seconds'])) return converse(call, call.signal)
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(timeoutFailure(DEFAULT_LIMIT_MS)), DEFAULT_LIMIT_MS)
    try {
      return await converse(call, AbortSignal.any([call.signal, controller.signal]))
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    kind: 'mcp',
    declaration: mcp,
    instant: false,
    async run(call) {
      try {
        return await limited(call)
      } catch (thrown) {
        return failed(call.signal.aborted ? call.signal.reason : thrown)
      }
    },
  }
}
