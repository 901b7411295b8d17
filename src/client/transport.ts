/**
 * Requests to a NoETL server.
 *
 * 1. Whatever goes wrong is a ProblemError: a refusal with the server's own code and words, anything below HTTP as
 *    `unavailable`. Only an abort by the caller's signal is passed on as it is.
 * 2. 64-bit integers in answers arrive as text, digit for digit.
 * 3. A token is sent with every request. Where the server wants one, or another one, the problem says how to give it.
 * 4. What asking again will not change, because somebody else answers there or nobody who is trusted, is a `WrongServer`.
 *    It names the address and where that comes from. A server of ours is known by the code of its refusals.
 * 5. HTTP where TLS is spoken, the other way round, and a redirect are told as that, with the address to write.
 */
import { Readable } from 'node:stream'
import type { Json } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type { ProblemCode } from '../contract/problem.ts'
import { PROBLEM_STATUS, ProblemError } from '../contract/problem.ts'
import { parseJson } from '../lib/exact-json.ts'
import { brokenAnswer, connectionProblem } from './connection-problem.ts'
import type { ClientTls } from './secure-fetch.ts'
import { createSecureFetch } from './secure-fetch.ts'
import { speaksTls } from './speaks-tls.ts'
import { IS_IT_OURS, redirectProblem, speaksTlsProblem, WrongServer } from './wrong-server.ts'

/** How a server is reached that is protected. */
export interface ClientOptions {
  readonly token?: string | undefined
  /** Certificates for `https` addresses, where the system's issuers do not do. */
  readonly tls?: ClientTls | undefined
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export interface RequestOptions {
  readonly body?: unknown
  /** The body as JSON that is written already. */
  readonly json?: Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

export interface Transport {
  /** Without a slash at the end. */
  readonly url: string
  /** The JSON answer of a request. */
  json(method: Method, path: string, options?: RequestOptions): Promise<unknown>
  /** The answer to a GET as the server wrote it. */
  text(path: string): Promise<string>
  /** The same as it arrives. */
  bytes(path: string): Promise<AsyncIterable<Uint8Array>>
  /** The open answer of a request, for reading as it arrives. */
  open(path: string, options?: RequestOptions): Promise<Response>
  /** Sends a file as it is read; answers the JSON answer. */
  upload(path: string, file: UploadedFile): Promise<unknown>
}

export interface UploadedFile {
  readonly type: string
  readonly bytes: Readable
}

export const createTransport = (serverUrl: string, { token, tls }: ClientOptions = {}): Transport => {
  const url = checkedUrl(serverUrl)
  const authorization = token === undefined ? {} : { authorization: `Bearer ${checkedToken(token)}` }
  const isSecure = tls !== undefined && url.startsWith('https:')
  const call = isSecure ? createSecureFetch(tls) : fetch

  const send = async (method: Method, path: string, options: RequestOptions): Promise<Response> => {
    const { headers = {}, signal } = options
    const body = options.body === undefined ? options.json : JSON.stringify(options.body)
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    try {
      return await call(url + path, {
        method,
        redirect: 'manual',
        headers: { ...authorization, ...headers, ...type },
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      })
    } catch (error) {
      throw await connectionProblem(url, error, signal)
    }
  }

  /** The JSON answer; a refusal is thrown. */
  const answerOf = async (path: string, response: Response, signal: AbortSignal | undefined) => {
    const location = isRedirect(response.status) ? response.headers.get('location') : null
    if (location !== null) throw redirectProblem(url, path, location)
    const answer = await readAnswer(url, response, signal)
    if (response.ok) return answer
    const problem = refusal(url, response.status, answer, token !== undefined)
    // Some of those who speak TLS answer plain HTTP once, to say so.
    const mayBeTls = problem instanceof WrongServer && response.status === 400 && url.startsWith('http:')
    throw mayBeTls && (await speaksTls(url)) ? speaksTlsProblem(url) : problem
  }

  const open = async (path: string, options: RequestOptions = {}): Promise<Response> => {
    const response = await send('GET', path, options)
    if (!response.ok) await answerOf(path, response, options.signal)
    return response
  }

  return {
    url,
    open,
    text: async (path) => readText(url, await open(path), undefined),
    bytes: async (path) => readBytes(url, await open(path)),
    json: async (method, path, options = {}) =>
      answerOf(path, await send(method, path, options), options.signal),
    upload: async (path, { type, bytes }) => {
      const headers = { ...authorization, 'content-type': type }
      const request = { method: 'POST', redirect: 'manual', headers } as const
      const sent = isSecure
        ? createSecureFetch(tls ?? {})(url + path, { ...request, body: bytes })
        : fetch(url + path, { ...request, body: Readable.toWeb(bytes) as ReadableStream, duplex: 'half' })
      const response = await sent.catch(async (error: unknown) => {
        throw await connectionProblem(url, error, undefined)
      })
      return answerOf(path, response, undefined)
    },
  }
}

const isRedirect = (status: number): boolean => status >= 300 && status < 400 && status !== 304

const checkedUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    const example = /^[\w.-]+(?::\d{1,5})?$/.test(text) ? `http://${text}` : 'http://127.0.0.1:8082'
    throw new ProblemError('invalid', `'${text}' is not the address of a server; write it like ${example}`)
  }
  return (url.origin + url.pathname).replace(/\/+$/, '')
}

/** Anything else could not stand in a header. */
const checkedToken = (token: string): string => {
  const trimmed = token.trim()
  if (/^[\u0021-\u007e]+$/.test(trimmed)) return trimmed
  throw new ProblemError(
    'invalid',
    'The token (--token, NOETL_TOKEN) is empty or has characters no token has',
  )
}

const readText = async (
  url: string,
  response: Response,
  signal: AbortSignal | undefined,
): Promise<string> => {
  try {
    return await response.text()
  } catch (error) {
    throw brokenAnswer(url, error, signal)
  }
}

async function* readBytes(url: string, { body }: Response): AsyncGenerator<Uint8Array> {
  try {
    if (body !== null) yield* body
  } catch (error) {
    throw brokenAnswer(url, error)
  }
}

/** Undefined when the body is not JSON, which only a stranger would send. */
const readAnswer = async (
  url: string,
  response: Response,
  signal: AbortSignal | undefined,
): Promise<unknown> => {
  const text = await readText(url, response, signal)
  try {
    return parseJson(text)
  } catch (error) {
    if (!response.ok) return undefined
    throw new WrongServer('unavailable', `${url} did not answer with JSON; ${IS_IT_OURS}`, {
      cause: error,
    })
  }
}

const refusal = (url: string, status: number, answer: unknown, hadToken: boolean): ProblemError => {
  if (isObject(answer) && answer['database'] === 'disconnected')
    return new ProblemError('unavailable', `${url} is there, but its database is not`)
  const { error, code, details }: Readonly<Record<string, unknown>> = isObject(answer) ? answer : {}
  const isOurs = typeof error === 'string' && typeof code === 'string' && !UNKNOWN_ROUTE.test(error)
  if (typeof error === 'string' && status === 401)
    return new ProblemError('unauthorized', tokenProblem(url, error, hadToken))
  if (!isOurs) {
    const said = typeof error === 'string' && error !== '' ? ` (${shortened(error)})` : ''
    const message = `${url} answered ${status}${said}; ${IS_IT_OURS}`
    // What stands before a server says 502 or 503 while there is none behind it.
    if (status >= 500) return new ProblemError(codeOf(status, null), message)
    return new WrongServer(codeOf(status, null), message)
  }
  return new ProblemError(
    codeOf(status, code),
    error,
    details === undefined ? {} : { details: details as Json },
  )
}

/** What our server says of a path that it does not have: the address has a path too many, or the server is another version. */
const UNKNOWN_ROUTE = /^no route matched /

const LONGEST_WORDS = 200

/** Words of a stranger, who may have many. */
const shortened = (words: string): string =>
  words.length > LONGEST_WORDS ? `${words.slice(0, LONGEST_WORDS)}…` : words

const tokenProblem = (url: string, error: string, hadToken: boolean): string =>
  hadToken
    ? `${url} refuses the token (--token, NOETL_TOKEN): ${error}`
    : `${url} needs an access token: give it with --token or NOETL_TOKEN. An admin makes one with: noetl token create`

const codeOf = (status: number, code: Json): ProblemCode => {
  if (typeof code === 'string' && Object.hasOwn(PROBLEM_STATUS, code)) return code as ProblemCode
  if (status >= 500) return status === 500 ? 'internal' : 'unavailable'
  const known = (Object.keys(PROBLEM_STATUS) as ProblemCode[]).find((word) => PROBLEM_STATUS[word] === status)
  return known ?? 'bad_request'
}
