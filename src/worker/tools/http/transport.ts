/**
 * Sends one request and reads its answer, over connections that are kept for the next one.
 *
 * 1. node:http and not fetch: certificate checks can be switched off per call, and names are resolved under our eyes.
 * 2. An answer above the limit is cut off while it is read, and again while it is decompressed.
 * 3. A kept connection that turns out to be closed is replaced silently, but only for methods that may be repeated.
 * 4. Aborting closes the connection.
 */
import {
  Agent as HttpAgent,
  type IncomingMessage,
  request as httpRequest,
  type RequestOptions,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'

import { privateNetworkGuard } from './address-guard.ts'
import { decompress } from './decompress.ts'
import { errorCode, tooLarge, transportFailure } from './http-error.ts'
import type { HttpRequest } from './request.ts'

export interface TransportOptions {
  readonly maxResponseBytes: number
  readonly allowPrivateAddresses: boolean
  /** Where HTTP_PROXY, HTTPS_PROXY and NO_PROXY are read from; loopback is never proxied. */
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface HttpAnswer {
  readonly status: number
  /** Lower-case names; repeated headers joined by commas. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface Transport {
  /** Rejects with a ToolFailure, or with the reason of the abort. */
  exchange(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>
  close(): void
}

/** Shorter than the patience of common servers, so that a kept connection is rarely a closed one. */
const IDLE_MS = 4_000
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE'])
const LOOPBACK = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/

/** For messages: without the query string, which may hold secrets. */
export const describeRequest = ({ method, url }: HttpRequest): string =>
  `${method} ${url.origin}${url.pathname}`

const joinedHeaders = (response: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(response.headersDistinct).map(([name, values]) => [name, (values ?? []).join(', ')]),
  )

type AgentName = 'http' | 'https' | 'unverified'

const createAgents = (options: TransportOptions, proxied: boolean): Record<AgentName, HttpAgent> => {
  const common = {
    keepAlive: true,
    timeout: IDLE_MS,
    ...(options.allowPrivateAddresses ? {} : { lookup: privateNetworkGuard.lookup }),
    ...(proxied ? { proxyEnv: options.env } : {}),
  }
  return {
    http: new HttpAgent(common),
    https: new HttpsAgent(common),
    unverified: new HttpsAgent({ ...common, rejectUnauthorized: false }),
  }
}

const collect = async (
  response: IncomingMessage,
  request: HttpRequest,
  maxBytes: number,
): Promise<Buffer> => {
  const where = describeRequest(request)
  const announced = request.method === 'HEAD' ? 0 : Number(response.headers['content-length'] ?? 0)
  if (announced > maxBytes) throw tooLarge(where, maxBytes)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge(where, maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

interface Attempt {
  readonly response: Promise<IncomingMessage>
  readonly wasReused: () => boolean
  destroy(reason?: Error): void
}

const start = (request: HttpRequest, agent: HttpAgent): Attempt => {
  const options: RequestOptions = {
    method: request.method,
    agent,
    headers: Object.fromEntries(request.headers.entries()),
  }
  const outgoing = (request.url.protocol === 'https:' ? httpsRequest : httpRequest)(request.url, options)
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve)
    // After the response these are repeated by its own stream.
    outgoing.on('error', reject)
    outgoing.on('close', () => reject(new Error('the connection was closed')))
  })
  if (request.body !== null) outgoing.setHeader('Content-Length', request.body.length)
  outgoing.end(request.body ?? undefined)
  return {
    response,
    wasReused: () => outgoing.reusedSocket,
    destroy: (reason) => void outgoing.destroy(reason),
  }
}

export const createTransport = (options: TransportOptions): Transport => {
  const { maxResponseBytes, allowPrivateAddresses, env } = options
  const direct = createAgents(options, false)
  // A proxy resolves names itself, out of reach of the guard.
  const usesProxy =
    allowPrivateAddresses && Object.keys(env).some((name) => /^https?_proxy$/i.test(name) && env[name])
  const proxied = usesProxy ? createAgents(options, true) : direct

  const agentFor = ({ url, verifyCertificate }: HttpRequest): HttpAgent => {
    const agents = LOOPBACK.test(url.hostname) ? direct : proxied
    if (url.protocol === 'http:') return agents.http
    return verifyCertificate ? agents.https : agents.unverified
  }

  const attempt = async (request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer | 'stale'> => {
    const where = describeRequest(request)
    signal.throwIfAborted()
    const running = start(request, agentFor(request))
    const abort = (): void => running.destroy()
    signal.addEventListener('abort', abort, { once: true })
    let response: IncomingMessage | null = null
    try {
      response = await running.response
      const raw = await collect(response, request, maxResponseBytes)
      const body = await decompress(raw, response.headers['content-encoding'], where, maxResponseBytes)
      return { status: response.statusCode ?? 0, headers: joinedHeaders(response), body }
    } catch (thrown) {
      running.destroy()
      signal.throwIfAborted()
      const closed = thrown instanceof Error && ['ECONNRESET', 'EPIPE'].includes(errorCode(thrown))
      if (response === null && closed && running.wasReused() && REPEATABLE.has(request.method)) return 'stale'
      throw transportFailure(thrown, where)
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  return {
    async exchange(request, signal) {
      if (!allowPrivateAddresses) privateNetworkGuard.checkHost(request.url.hostname)
      // Ends: every stale connection is one less of those that were kept.
      for (;;) {
        const answer = await attempt(request, signal)
        if (answer !== 'stale') return answer
      }
    },
    close() {
      for (const agents of new Set([direct, proxied]))
        for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}
