/**
 * A conversation over streamable HTTP.
 *
 * 1. Every message is a POST. Its answer is JSON, or a stream of events in which the answer is one of the messages; the
 *    others are told to the log or answered, and the stream is left as soon as the answer is there.
 * 2. The session id and the protocol version that the server gave go with every later message, and the session is ended
 *    with the conversation.
 * 3. An answer may have at most 64 MB.
 * 4. Where the worker may not call private addresses, that goes for these servers, too, and for where they redirect to; not
 *    for a server whose address the worker's own settings give.
 */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { parseJson } from '../../../lib/exact-json.ts'
import { ToolFailure } from '../../tool-failure.ts'
import { statusError, tooLarge, transportFailure } from '../http/http-error.ts'
import type { OutboundFetch } from '../http/outbound-fetch.ts'
import { eventData } from './event-stream.ts'
import {
  isAnswerTo,
  logLine,
  type McpChannel,
  malformed,
  notification,
  replyTo,
  requestMessage,
  resultOf,
} from './rpc.ts'

export interface HttpChannelOptions {
  readonly endpoint: string
  /** The worker's own settings name the endpoint. */
  readonly isTrusted: boolean
  readonly fetch: OutboundFetch
  /** Headers of the call: credentials and what the block adds. */
  readonly headers: readonly (readonly [string, string])[]
  readonly signal: AbortSignal
  readonly log: (text: string) => void
}

const MOST_BYTES = 64 * 1024 * 1024
const CLOSE_MS = 2_000

async function* limited(body: AsyncIterable<Uint8Array>, where: string): AsyncGenerator<Uint8Array> {
  let received = 0
  for await (const chunk of body) {
    received += chunk.length
    if (received > MOST_BYTES) throw tooLarge(where, MOST_BYTES)
    yield chunk
  }
}

const wholeText = async (body: AsyncIterable<Uint8Array>): Promise<string> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

const parsed = (text: string, where: string): Json => {
  try {
    return parseJson(text) as Json
  } catch (error) {
    throw malformed(where, 'is not JSON', error)
  }
}

export const createHttpChannel = (options: HttpChannelOptions): McpChannel => {
  const { endpoint, isTrusted, headers, signal, log } = options
  let session: string | null = null
  let version: string | null = null

  const ownHeaders = (): Headers => {
    const all = new Headers(headers.map(([name, value]): [string, string] => [name, value]))
    if (session !== null) all.set('mcp-session-id', session)
    if (version !== null) all.set('mcp-protocol-version', version)
    return all
  }

  const post = async (message: JsonObject, where: string): Promise<Response> => {
    const own = ownHeaders()
    own.set('content-type', 'application/json')
    own.set('accept', 'application/json, text/event-stream')
    let response: Response
    try {
      response = await options.fetch(endpoint, {
        method: 'POST',
        isTrusted,
        headers: own,
        body: JSON.stringify(message),
        signal,
      })
    } catch (error) {
      signal.throwIfAborted()
      // What fetch itself says is only that it failed.
      throw transportFailure(error instanceof TypeError ? (error.cause ?? error) : error, where)
    }
    session = response.headers.get('mcp-session-id') ?? session
    if (response.ok) return response
    const reason = (await response.text().catch(() => '')).slice(0, 300)
    const retryAfter = response.headers.get('retry-after') ?? undefined
    const error = statusError(response.status, retryAfter, where, Date.now())
    throw new ToolFailure(reason === '' ? error : { ...error, message: `${error.message}: ${reason}` })
  }

  /** What a server says beside the answer. */
  const hear = (message: Json): void => {
    if (!isObject(message)) return
    const line = logLine(message)
    if (line !== null) log(line)
    const reply = replyTo(message)
    // Whether the server got it shows in its answer to the request that is under way.
    if (reply !== null) void post(reply, endpoint).catch(() => undefined)
  }

  const fromEvents = async (
    body: AsyncIterable<Uint8Array>,
    id: number | string,
    where: string,
  ): Promise<JsonObject> => {
    for await (const text of eventData(body)) {
      const message = parsed(text, where)
      if (isAnswerTo(message, id)) return message
      hear(message)
    }
    throw malformed(where, 'ended before it was complete')
  }

  const fromJson = async (
    body: AsyncIterable<Uint8Array>,
    id: number | string,
    where: string,
  ): Promise<JsonObject> => {
    const message = parsed(await wholeText(body), where)
    const found = (Array.isArray(message) ? (message as readonly Json[]) : [message]).find((each) =>
      isAnswerTo(each, id),
    )
    if (found !== undefined) return found
    throw malformed(where, 'does not belong to the question')
  }

  return {
    address: endpoint,
    async request(request) {
      const where = `${request.method} of ${endpoint}`
      const response = await post(requestMessage(request), where)
      if (response.body === null) throw malformed(where, 'is empty')
      const body = limited(response.body, where)
      const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true
      try {
        const answer = await (isStream ? fromEvents : fromJson)(body, request.id, where)
        return resultOf(answer, where)
      } catch (error) {
        signal.throwIfAborted()
        throw transportFailure(error, where)
      } finally {
        await response.body.cancel().catch(() => undefined)
      }
    },
    async notify(method) {
      const response = await post(notification(method), `${method} of ${endpoint}`)
      await response.body?.cancel()
    },
    agree: (protocolVersion) => void (version = protocolVersion),
    async close() {
      if (session === null) return
      const timeout = AbortSignal.timeout(CLOSE_MS)
      const ending = { method: 'DELETE', isTrusted, headers: ownHeaders(), signal: timeout }
      const response = await options.fetch(endpoint, ending).catch(() => null)
      await response?.body?.cancel().catch(() => undefined)
    },
  }
}
