/** JSON-RPC as MCP speaks it: the messages, the way they travel, and what an answer with an error means. */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { ToolFailure } from '../../tool-failure.ts'

export interface RpcRequest {
  readonly id: number | string
  readonly method: string
  readonly params?: Json
}

/** One conversation with a server. */
export interface McpChannel {
  /** Shown in messages and in the data. */
  readonly address: string
  /** The result of the answer. Rejects with a ToolFailure, or with the reason of the abort. */
  request(request: RpcRequest): Promise<Json>
  /** Something that has no answer. */
  notify(method: string): Promise<void>
  /** The version both sides agreed on. */
  agree(protocolVersion: string): void
  /** Ends the conversation; never rejects. */
  close(): Promise<void>
}

export const requestMessage = ({ id, method, params }: RpcRequest): JsonObject => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params === undefined ? {} : { params }),
})

export const notification = (method: string): JsonObject => ({ jsonrpc: '2.0', method })

/** The answer to what a server asks of us: we are alive, and offer nothing else. */
export const replyTo = (message: JsonObject): JsonObject | null => {
  const { id, method } = message
  if (id === undefined || id === null || typeof method !== 'string') return null
  if (method === 'ping') return { jsonrpc: '2.0', id, result: {} }
  return { jsonrpc: '2.0', id, error: { code: -32_601, message: `This client has no method ${method}` } }
}

export const isAnswerTo = (message: Json, id: RpcRequest['id']): message is JsonObject =>
  isObject(message) && message['id'] === id && ('result' in message || 'error' in message)

/** What a server says on the side: a log line, or null for anything else. */
export const logLine = (message: JsonObject): string | null => {
  if (message['method'] !== 'notifications/message' || !isObject(message['params'])) return null
  const { level, data } = message['params']
  const text = typeof data === 'string' ? data : JSON.stringify(data ?? null)
  return `${typeof level === 'string' ? `[${level}] ` : ''}${text}\n`
}

const KINDS: Readonly<Record<number, { readonly kind: string; readonly retryable: boolean }>> = {
  [-32_700]: { kind: 'parse', retryable: false },
  [-32_601]: { kind: 'not_found', retryable: false },
  [-32_603]: { kind: 'server_error', retryable: true },
}

/** The result of an answer; an error in it is thrown. */
export const resultOf = (answer: JsonObject, where: string): Json => {
  const { error } = answer
  if (!isObject(error)) return answer['result'] ?? null
  const code = typeof error['code'] === 'number' ? error['code'] : 0
  const message = typeof error['message'] === 'string' ? error['message'] : 'no reason given'
  const { kind, retryable } = KINDS[code] ?? { kind: 'client_error', retryable: false }
  throw new ToolFailure({ kind, code: `MCP_${code}`, message: `${where} failed: ${message}`, retryable })
}

export const malformed = (where: string, what: string, cause?: unknown): ToolFailure =>
  new ToolFailure(
    {
      kind: 'parse',
      code: 'MCP_MALFORMED',
      message: `${where} gave an answer that ${what}`,
      retryable: false,
    },
    cause === undefined ? {} : { cause },
  )
