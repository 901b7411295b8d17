/**
 * Headers that every answer has. They are set on the bare response, so that streams and errors have them, too; what a
 * route sets itself wins.
 *
 * 1. Browsers take answers for what they say they are, keep none of them, show none of them in frames, and give none to
 *    pages of other origins, unless an origin was configured.
 * 2. Nothing runs in an answer that a browser shows. A route that answers with a page sets the policy of that page.
 * 3. Origins are answered one by one, never with cookies: whoever calls from elsewhere shows a token.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'

const HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['cache-control', 'no-store'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
]

export const setSafetyHeaders = (response: ServerResponse): void => {
  for (const [name, value] of HEADERS) response.setHeader(name, value)
}

const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const ALLOWED_HEADERS =
  'authorization, content-type, last-event-id, if-none-match, idempotency-key, traceparent, tracestate'
const EXPOSED_HEADERS = 'etag, retry-after, www-authenticate, x-request-id'
const PREFLIGHT_SECONDS = '600'

/** Origins such as `https://noetl.example.com`; `*` for all. */
export type CorsOrigins = readonly string[]

export const isAllowedOrigin = (origin: string, origins: CorsOrigins): boolean =>
  origins.includes('*') || origins.includes(origin.toLowerCase())

/** True when the request is a browser's question that is answered by these headers alone. */
export const setOriginHeaders = (
  request: { readonly method: string; readonly headers: IncomingHttpHeaders },
  response: ServerResponse,
  origins: CorsOrigins,
): boolean => {
  if (origins.length === 0) return false
  response.setHeader('vary', 'origin')
  const { origin } = request.headers
  if (origin === undefined || !isAllowedOrigin(origin, origins)) return false
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-expose-headers', EXPOSED_HEADERS)
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined)
    return false
  response.setHeader('access-control-allow-methods', ALLOWED_METHODS)
  response.setHeader('access-control-allow-headers', ALLOWED_HEADERS)
  response.setHeader('access-control-max-age', PREFLIGHT_SECONDS)
  return true
}
