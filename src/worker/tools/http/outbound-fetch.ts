/**
 * How tools other than `http` fetch what a playbook names: scripts, tokens, secrets, the talk with MCP servers.
 *
 * 1. The rule about private addresses is that of the http tool: it looks at the address that is connected to, for each redirect
 *    anew.
 * 2. An address that the operator of the worker has set, and no playbook, is trusted: it may be private. A redirect away from
 *    its origin is checked like any other.
 * 3. Answers are read as they come. Nobody asks for compressed ones where addresses are checked.
 */
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'

import { configFailure, ToolFailure } from '../../tool-failure.ts'
import { type AddressGuard, privateNetworkGuard } from './address-guard.ts'
import { createHeaderList } from './header-list.ts'
import { followRedirect, type HttpRequest } from './request.ts'

export interface OutboundRequest {
  readonly method?: string
  readonly headers?: Headers | Record<string, string>
  readonly body?: string
  readonly redirect?: 'follow' | 'error'
  readonly signal?: AbortSignal
  /** The address comes from the settings of the worker. */
  readonly isTrusted?: boolean
}

/** As the global one: rejects when no answer comes, or with a ToolFailure when it may not ask. */
export type OutboundFetch = (url: string | URL, request?: OutboundRequest) => Promise<Response>

const MAX_REDIRECTS = 10
/** Answers that have no body by definition. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304])
const PRIVATE_HEADERS = ['authorization', 'cookie', 'proxy-authorization'] as const

/** Goes anywhere. */
export const openFetch: OutboundFetch = async (url, { isTrusted: _isTrusted, ...request } = {}) =>
  fetch(url, request)

export const createOutboundFetch = (allowPrivateAddresses: boolean): OutboundFetch =>
  allowPrivateAddresses ? openFetch : createGuardedFetch(privateNetworkGuard)

type Agents = Readonly<Record<'http:' | 'https:', HttpAgent>>

const agentsWith = (lookup: { lookup?: LookupFunction }): Agents => ({
  'http:': new HttpAgent({ keepAlive: true, ...lookup }),
  'https:': new HttpsAgent({ keepAlive: true, ...lookup }),
})

export const createGuardedFetch = (guard: AddressGuard): OutboundFetch => {
  const guarded = agentsWith({ lookup: guard.lookup })
  const trusted = agentsWith({})

  return async (address, request = {}) => {
    const { signal, redirect = 'follow', isTrusted = false } = request
    let hop = firstHop(address, request)
    const { origin } = hop.url
    for (let redirects = 0; ; redirects += 1) {
      signal?.throwIfAborted()
      const isOwn = isTrusted && hop.url.origin === origin
      if (!isOwn) guard.checkHost(hop.url.hostname)
      const answer = await exchange(hop, isOwn ? trusted : guarded, signal)
      const next = followRedirect(hop, answer.statusCode ?? 0, answer.headers.location)
      if (next === null) return responseOf(answer)
      answer.destroy()
      if (redirect === 'error') throw new TypeError('the answer is a redirect')
      if (redirects === MAX_REDIRECTS) throw tooManyRedirects()
      hop = next
    }
  }
}

const tooManyRedirects = (): ToolFailure =>
  new ToolFailure({
    kind: 'redirect',
    code: 'TOO_MANY_REDIRECTS',
    message: `More than ${MAX_REDIRECTS} redirects`,
    retryable: false,
  })

const firstHop = (address: string | URL, { method, headers, body }: OutboundRequest): HttpRequest => {
  const url = URL.parse(String(address))
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw configFailure('An address must start with http:// or https://')
  }
  const list = createHeaderList([...new Headers(headers)])
  list.set('accept-encoding', 'identity')
  list.setDefault('user-agent', 'noetl')
  return {
    method: (method ?? 'GET').toUpperCase(),
    url,
    headers: list,
    body: body === undefined ? null : Buffer.from(body),
    verifyCertificate: true,
    privateHeaders: PRIVATE_HEADERS,
  }
}

const exchange = async (
  { method, url, headers, body }: HttpRequest,
  agents: Agents,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage> => {
  const isSecure = url.protocol === 'https:'
  const outgoing = (isSecure ? httpsRequest : httpRequest)(url, {
    method,
    agent: agents[isSecure ? 'https:' : 'http:'],
    headers: {
      ...Object.fromEntries(headers.entries()),
      ...(body === null ? {} : { 'content-length': body.length }),
    },
    ...(signal === undefined ? {} : { signal }),
  })
  try {
    return await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.on('response', resolve)
      // Stays after the answer, whose own stream then tells what happened.
      outgoing.on('error', reject)
      outgoing.end(body ?? undefined)
    })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

const responseOf = (answer: IncomingMessage): Response => {
  const status = answer.statusCode ?? 0
  const headers = new Headers()
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  if (!BODILESS.has(status))
    return new Response(Readable.toWeb(answer) as ReadableStream, { status, headers })
  answer.resume()
  return new Response(null, { status, headers })
}
