/**
 * A tool block as one HTTP request, and the request that follows a redirect.
 *
 * 1. Existing query strings are kept as written; `params` are appended.
 * 2. A user in the URL becomes a Basic header and never shows up in results.
 * 3. Redirects: 303 turns into GET, and so does a POST with 301 or 302; others keep method and body. Headers with
 *    secrets, and a Host the call set, stay with the origin they were meant for.
 */
import { validateHeaderName, validateHeaderValue } from 'node:http'

import type { Json, JsonObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'
import { booleanField, credentialFields, textEntries, textField } from '../coerce.ts'
import { authorize, basicHeader } from './authorization.ts'
import { requestContent } from './body.ts'
import { createHeaderList, type HeaderList } from './header-list.ts'

export interface HttpRequest {
  readonly method: string
  readonly url: URL
  readonly headers: HeaderList
  readonly body: Buffer | null
  readonly verifyCertificate: boolean
  /** Lower-case names of headers that are for this origin only. */
  readonly privateHeaders: readonly string[]
}

const METHOD = /^[A-Z]+$/
const FRAMING = ['content-length', 'transfer-encoding', 'connection', 'expect'] as const

const parseUrl = (text: string): URL => {
  const url = URL.parse(text.trim())
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    // A user and a query may be secrets.
    const shown = text.replace(/\/\/[^/?#]*@/, '//').replace(/[?#].*$/s, '')
    throw configFailure(`url must start with http:// or https://, not ${JSON.stringify(shown.slice(0, 200))}`)
  }
  url.hash = ''
  return url
}

/** Refuses what would break out of its header line. */
const checkHeaders = (headers: HeaderList): void => {
  for (const [name, value] of headers.entries()) {
    try {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    } catch {
      throw configFailure(`The header ${JSON.stringify(name)} has a name or a value that HTTP does not allow`)
    }
  }
}

const appendQuery = (url: URL, query: Json | undefined, field: string): void => {
  const added =
    typeof query === 'string'
      ? query.replace(/^[?&]/, '')
      : new URLSearchParams(textEntries(query, field)).toString()
  if (added !== '') url.search = url.search === '' ? added : `${url.search}&${added}`
}

const takeUser = (url: URL, headers: HeaderList): void => {
  if (url.username === '' && url.password === '') return
  headers.setDefault(
    'Authorization',
    basicHeader(decodeURIComponent(url.username), decodeURIComponent(url.password)),
  )
  url.username = ''
  url.password = ''
}

export const buildRequest = async (config: JsonObject): Promise<HttpRequest> => {
  const address = textField(config, 'url', 'endpoint')
  if (address === null) throw configFailure('An http tool needs `url`')
  const method = (textField(config, 'method') ?? 'GET').trim().toUpperCase()
  if (!METHOD.test(method) || method === 'CONNECT') throw configFailure(`"${method}" is not an HTTP method`)
  const url = parseUrl(address)
  const headers = createHeaderList(textEntries(config['headers'], 'headers'))
  headers.remove(...FRAMING)
  const privateHeaders = authorize(headers, credentialFields(config))
  takeUser(url, headers)

  const { query, body } = await requestContent(config, method, headers.get('content-type') ?? '')
  appendQuery(url, config['params'], 'params')
  appendQuery(url, query, 'data.query')
  if (body !== null && body.contentType !== null) {
    // Only we know the boundary of a multipart body.
    if (body.contentType.startsWith('multipart/')) headers.set('Content-Type', body.contentType)
    else headers.setDefault('Content-Type', body.contentType)
  }
  checkHeaders(headers)
  headers.setDefault('Accept', '*/*')
  headers.setDefault('Accept-Encoding', 'gzip, deflate, br, zstd')
  headers.setDefault('User-Agent', 'noetl')
  return {
    method,
    url,
    headers,
    body: body?.bytes ?? null,
    verifyCertificate: booleanField(config, true, 'verify_ssl', 'verify'),
    privateHeaders,
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** The request that a redirect asks for; null when the answer is not a redirect that can be followed. */
export const followRedirect = (
  request: HttpRequest,
  status: number,
  location: string | undefined,
): HttpRequest | null => {
  if (!REDIRECTS.has(status) || location === undefined) return null
  const url = URL.parse(location, request.url)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null
  url.hash = ''
  const headers = request.headers.copy()
  if (url.origin !== request.url.origin) headers.remove('host', ...request.privateHeaders)
  takeUser(url, headers)
  const becomesGet =
    (status === 303 && request.method !== 'HEAD') || (status <= 302 && request.method === 'POST')
  if (!becomesGet) return { ...request, url, headers }
  headers.remove('content-type', 'content-encoding', 'content-language', 'content-location')
  return { ...request, method: 'GET', url, headers, body: null }
}
