/**
 * Fetches a token: the request that entries of kind `oauth2` and `http` describe, and the renewal of one that ran out.
 *
 * 1. `endpoint`, `method` (POST), `headers`, and `data` as a form or `json` as JSON; `params` for the query.
 * 2. The answer must be JSON. Its fields are the entry's; `map` picks fields by path instead. `token_field` names the token,
 *    which is then `access_token` whatever the other side calls it.
 * 3. How long it lives is `ttl` of the entry, else `expires_in` of the answer (or the field that `ttl_field` names), else an
 *    hour.
 * 4. A refusal says the status and the reason in the words of OAuth, never the body: it may repeat what was sent.
 */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { parseJson } from '../../../lib/exact-json.ts'
import { durationMs } from '../../duration.ts'
import { configFailure, ToolFailure } from '../../tool-failure.ts'
import { firstGiven, isGiven, textEntries, textField, textOf } from '../../tools/coerce.ts'
import { statusError, transportFailure } from '../../tools/http/http-error.ts'
import type { OutboundFetch } from '../../tools/http/outbound-fetch.ts'
import { readPath } from './read-path.ts'

export interface FetchedToken {
  readonly data: JsonObject
  readonly expiresInSeconds: number
}

export interface TokenRequest {
  readonly fetch: OutboundFetch
  readonly signal: AbortSignal
}

const LIMIT_MS = 30_000
const DEFAULT_SECONDS = 3_600
const MOST_BYTES = 1024 * 1024

const bodyOf = (config: JsonObject): { body?: string; type?: string } => {
  if (isGiven(config['json'])) return { body: JSON.stringify(config['json']), type: 'application/json' }
  const data = firstGiven(config, ['data', 'form', 'payload', 'body'])
  if (data === null) return {}
  if (typeof data.value === 'string') return { body: data.value }
  const asJson = textEntries(config['headers'], 'headers').some(
    ([name, value]) => name.toLowerCase() === 'content-type' && value.includes('json'),
  )
  if (asJson) return { body: JSON.stringify(data.value) }
  const form = new URLSearchParams(textEntries(data.value, data.name))
  return { body: form.toString(), type: 'application/x-www-form-urlencoded' }
}

const urlOf = (config: JsonObject): URL => {
  const endpoint = textField(config, 'endpoint', 'url', 'token_url')
  if (endpoint === null) throw configFailure('`endpoint` is missing')
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw configFailure('`endpoint` must be an http(s) address')
  for (const [name, value] of textEntries(config['params'], 'params')) url.searchParams.append(name, value)
  return url
}

/** The reason in the words of OAuth; they are made for logs. */
const reasonIn = (text: string): string => {
  try {
    const answer = parseJson(text) as Json
    if (!isObject(answer)) return ''
    const words = [answer['error'], answer['error_description']].filter((word) => typeof word === 'string')
    return words.length === 0 ? '' : `: ${words.join(', ')}`.slice(0, 300)
  } catch {
    return ''
  }
}

const send = async (config: JsonObject, url: URL, { fetch, signal }: TokenRequest): Promise<string> => {
  const { body, type } = bodyOf(config)
  const headers = new Headers(textEntries(config['headers'], 'headers'))
  if (type !== undefined && !headers.has('content-type')) headers.set('content-type', type)
  if (!headers.has('accept')) headers.set('accept', 'application/json')
  const where = `${url.origin}${url.pathname}`
  let response: Response
  let text: string
  try {
    response = await fetch(url, {
      method: (textField(config, 'method') ?? 'POST').toUpperCase(),
      headers,
      ...(body === undefined ? {} : { body }),
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]),
    })
    text = await response.text()
  } catch (error) {
    signal.throwIfAborted()
    throw transportFailure(error instanceof TypeError ? (error.cause ?? error) : error, where)
  }
  if (response.ok && text.length <= MOST_BYTES) return text
  const retryAfter = response.headers.get('retry-after') ?? undefined
  const error = statusError(response.status, retryAfter, where, Date.now())
  throw new ToolFailure({ ...error, message: `${error.message}${reasonIn(text)}` })
}

const answerOf = (text: string, where: string): Json => {
  try {
    return parseJson(text) as Json
  } catch {
    throw new ToolFailure({
      kind: 'parse',
      code: 'TOKEN_MALFORMED',
      message: `${where} gave an answer that is not JSON`,
      retryable: false,
    })
  }
}

const fieldsOf = (answer: Json, config: JsonObject, where: string): JsonObject => {
  const { map } = config
  const fields: Record<string, Json> = isObject(map)
    ? Object.fromEntries(
        Object.entries(map).map(([name, path]) => [name, readPath(answer, textOf(path) ?? '', where)]),
      )
    : { ...(isObject(answer) ? answer : { value: answer }) }
  const tokenField = textField(config, 'token_field')
  if (tokenField !== null) fields['access_token'] = readPath(answer, tokenField, where)
  return fields
}

const secondsOf = (answer: Json, config: JsonObject): number => {
  const own = durationMs(config['ttl'] ?? config['ttl_seconds'] ?? config['expires_in'], 'ttl')
  if (own !== null) return own / 1000
  const field = textField(config, 'ttl_field') ?? 'expires_in'
  const told = isObject(answer) ? Number(answer[field] ?? Number.NaN) : Number.NaN
  return Number.isFinite(told) && told > 0 ? told : DEFAULT_SECONDS
}

/** The templates of `config` are rendered. */
export const fetchToken = async (config: JsonObject, request: TokenRequest): Promise<FetchedToken> => {
  const url = urlOf(config)
  const where = `${url.origin}${url.pathname}`
  const answer = answerOf(await send(config, url, request), where)
  return { data: fieldsOf(answer, config, where), expiresInSeconds: secondsOf(answer, config) }
}
