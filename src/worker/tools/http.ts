/**
 * Calls an HTTP server.
 *
 * 1. Data is `{status_code, headers, data, body, url, elapsed}`; `data` and `body` both hold the parsed body.
 * 2. Success is a status of 200-299. Any other is an error, and the data is there all the same.
 * 3. At most ten redirects are followed; each one is checked like the first request.
 * 4. Every call has a limit of time: its own, or 30 seconds. Passing it is `CONN_TIMEOUT`.
 * 5. The trace of the command goes along as `traceparent` and `tracestate`, unless the call sets a `traceparent` itself.
 */
import type { LeasedCommand } from '../../contract/command.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { http } from '../../contract/tools/http.ts'
import { traceOf } from '../command-trace.ts'
import { durationMs } from '../duration.ts'
import { timeoutFailure } from '../time-limit.ts'
import { failed, ToolFailure } from '../tool-failure.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import { booleanField, firstGiven } from './coerce.ts'
import type { HeaderList } from './http/header-list.ts'
import { statusError } from './http/http-error.ts'
import { buildRequest, followRedirect, type HttpRequest } from './http/request.ts'
import { readBody, responseType } from './http/response-body.ts'
import { createTransport, describeRequest, type HttpAnswer } from './http/transport.ts'

export interface HttpToolOptions {
  /** Larger responses fail. Counted after decompression. */
  readonly maxResponseBytes?: number
  /** False keeps calls away from loopback, private and link-local addresses. */
  readonly allowPrivateAddresses?: boolean
  /** Where the settings of proxies are read from. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

export interface HttpTool extends Tool {
  run(call: ToolCall): Promise<ToolResult>
  close(): Promise<void>
}

const DEFAULT_RESPONSE_BYTES = 64 * 1024 * 1024
const DEFAULT_LIMIT_MS = 30_000
const MAX_REDIRECTS = 10

/** The limit a call names, or ours; null when it names "no limit". */
const limitOf = (config: JsonObject): number | null => {
  const named = firstGiven(config, ['timeout_seconds', 'timeout'])
  return named === null ? DEFAULT_LIMIT_MS : durationMs(named.value, named.name)
}

/** What to say when the call was ended from outside. Time that ran out is a timeout of the connection. */
const aborted = (reason: unknown): ToolResult => {
  const result = failed(reason)
  if (result.error?.kind !== 'timeout') return result
  return { ...result, error: { ...result.error, code: 'CONN_TIMEOUT' } }
}

const toResult = (request: HttpRequest, answer: HttpAnswer, body: Json, elapsedMs: number): ToolResult => {
  const { status, headers } = answer
  const data: JsonObject = {
    status_code: status,
    headers,
    data: body,
    body,
    url: request.url.href,
    elapsed: Math.round(elapsedMs) / 1000,
  }
  if (status >= 200 && status <= 299) return { outcome: 'ok', data }
  const error = statusError(status, headers['retry-after'], describeRequest(request), Date.now())
  return { outcome: 'error', data, error }
}

const tooManyRedirects = (request: HttpRequest): ToolFailure =>
  new ToolFailure({
    kind: 'redirect',
    code: 'TOO_MANY_REDIRECTS',
    message: `More than ${MAX_REDIRECTS} redirects, the last to ${describeRequest(request)}`,
    retryable: false,
  })

const addTrace = (headers: HeaderList, command: LeasedCommand): void => {
  if (headers.has('traceparent')) return
  const { traceparent, tracestate } = traceOf(command)
  headers.set('traceparent', traceparent)
  if (tracestate !== undefined) headers.setDefault('tracestate', tracestate)
}

export const createHttpTool = (options: HttpToolOptions = {}): HttpTool => {
  const transport = createTransport({
    maxResponseBytes: options.maxResponseBytes ?? DEFAULT_RESPONSE_BYTES,
    allowPrivateAddresses: options.allowPrivateAddresses ?? true,
    env: options.env ?? {},
  })

  const send = async ({ config, command }: ToolCall, signal: AbortSignal): Promise<ToolResult> => {
    const type = responseType(config)
    const follows = booleanField(config, true, 'follow_redirects', 'allow_redirects')
    let request = await buildRequest(config)
    addTrace(request.headers, command)
    const startedAt = performance.now()
    for (let redirects = 0; ; redirects += 1) {
      const answer = await transport.exchange(request, signal)
      const next = follows ? followRedirect(request, answer.status, answer.headers['location']) : null
      if (next === null) {
        const body = readBody(answer.body, answer.headers['content-type'] ?? '', type)
        return toResult(request, answer, body, performance.now() - startedAt)
      }
      if (redirects === MAX_REDIRECTS) throw tooManyRedirects(next)
      request = next
    }
  }

  return {
    kind: 'http',
    declaration: http,
    instant: false,
    async run(call) {
      const { config, signal } = call
      const ended = new AbortController()
      const end = (): void => ended.abort(signal.reason)
      let timer: NodeJS.Timeout | undefined
      try {
        signal.throwIfAborted()
        signal.addEventListener('abort', end, { once: true })
        const limitMs = limitOf(config)
        if (limitMs !== null) timer = setTimeout(() => ended.abort(timeoutFailure(limitMs)), limitMs)
        return await send(call, ended.signal)
      } catch (thrown) {
        return ended.signal.aborted ? aborted(ended.signal.reason) : failed(thrown)
      } finally {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
      }
    },
    async close() {
      transport.close()
    },
  }
}
