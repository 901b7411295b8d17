/**
 * Requests to a NoETL server.
 *
 * 1. Whatever goes wrong is a ProblemError: a refusal with the server's own code and words, anything below HTTP as
 *    `unavailable`. Only an abort by the caller's signal is passed on as it is.
 * 2. 64-bit integers in answers arrive as text, digit for digit.
 * 3. A token is sent with every request. Where the server wants one, or another one, the problem says how to give it.
 * 4. What asking again will not change, because somebody else answers there or nobody who is trusted, is a `WrongServer`.
 *    It names the address and where that comes from. A server of ours is known by the code of its refusals.
 */
import { Readable } from 'node:stream'
import type { Json } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type { ProblemCode } from '../contract/problem.ts'
import { PROBLEM_STATUS, ProblemError } from '../contract/problem.ts'
import { parseJson } from '../lib/exact-json.ts'
import type { ClientTls } from './secure-fetch.ts'
import { createSecureFetch } from './secure-fetch.ts'

/** What answers is not a NoETL server, or there is no trust between it and us. Time alone will not heal it. */
export class WrongServer extends ProblemError {
  constructor(code: ProblemCode, message: string, options: { cause?: unknown } = {}) {
    super(code, message, options)
    this.name = 'WrongServer'
  }
}

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
        headers: { ...authorization, ...headers, ...type },
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      })
    } catch (error) {
      throw connectionProblem(url, error, signal)
    }
  }

  return {
    url,
    json: async (method, path, options = {}) => {
      const response = await send(method, path, options)
      const answer = await readAnswer(url, response, options.signal)
      if (!response.ok) throw refusal(url, response.status, answer, token !== undefined)
      return answer
    },
    open: async (path, options = {}) => {
      const response = await send('GET', path, options)
      if (response.ok) return response
      const answer = await readAnswer(url, response, options.signal)
      throw refusal(url, response.status, answer, token !== undefined)
    },
    upload: async (path, { type, bytes }) => {
      const request = { method: 'POST', headers: { ...authorization, 'content-type': type } }
      const sent = isSecure
        ? createSecureFetch(tls ?? {})(url + path, { ...request, body: bytes })
        : fetch(url + path, { ...request, body: Readable.toWeb(bytes) as ReadableStream, duplex: 'half' })
      const response = await sent.catch((error: unknown) => {
        throw connectionProblem(url, error, undefined)
      })
      const answer = await readAnswer(url, response, undefined)
      if (!response.ok) throw refusal(url, response.status, answer, token !== undefined)
      return answer
    },
  }
}

const checkedUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new ProblemError(
      'invalid',
      `'${text}' is not the address of a server; write it like http://127.0.0.1:8082`,
    )
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

/** Undefined when the body is not JSON, which only a stranger would send. */
const readAnswer = async (
  url: string,
  response: Response,
  signal: AbortSignal | undefined,
): Promise<unknown> => {
  let text: string
  try {
    text = await response.text()
  } catch (error) {
    throw connectionProblem(url, error, signal)
  }
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

/** Where the address comes from, for those who have a wrong one. */
export const IS_IT_OURS = 'is it a NoETL server? The address is that of --server or NOETL_SERVER_URL'

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

const connectionProblem = (url: string, error: unknown, signal: AbortSignal | undefined): unknown => {
  if (signal?.aborted === true) return error
  const message = `No answer from ${url} (${reasonOf(url, error)})`
  return isHopeless(error)
    ? new WrongServer('unavailable', message, { cause: error })
    : new ProblemError('unavailable', message, { cause: error })
}

/** Words of OpenSSL and Node for a certificate that nobody vouches for. */
const DISTRUST =
  /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)|CERT_(?:UNTRUSTED|HAS_EXPIRED|NOT_YET)|ALTNAME_INVALID/
const CLIENT_DISTRUST = /CERTIFICATE_REQUIRED|ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE)/

/** The other side speaks something else: HTTP where TLS is wanted, or no HTTP at all. */
const STRANGE =
  /^(?:ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|HPE_INVALID_(?:CONSTANT|VERSION))$/
/** What fetch says of ports that it never connects to, without a code. */
const BAD_PORT = 'bad port'

/** fetch hides why behind `fetch failed`. */
const causeOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? error.cause : error

const codeBehind = (error: unknown): string | null => {
  const code = (causeOf(error) as { code?: unknown }).code
  return typeof code === 'string' ? code : null
}

const isHopeless = (error: unknown): boolean => {
  const code = codeBehind(error)
  if (code === null) return causeMessage(error) === BAD_PORT
  return DISTRUST.test(code) || CLIENT_DISTRUST.test(code) || STRANGE.test(code)
}

const reasonOf = (url: string, error: unknown): string => {
  const code = codeBehind(error)
  if (code === 'ECONNREFUSED') return 'connection refused'
  if (code === 'ENOTFOUND') return 'unknown host'
  if (code !== null && DISTRUST.test(code))
    return `its certificate is not trusted, ${code}; NOETL_TLS_CA names the file of the issuer's certificate`
  if (code !== null && CLIENT_DISTRUST.test(code))
    return `it wants a certificate of the client, ${code}; give NOETL_TLS_CLIENT_CERT and NOETL_TLS_CLIENT_KEY`
  if (code !== null && STRANGE.test(code))
    return code.startsWith('HPE')
      ? `it does not speak HTTP; ${IS_IT_OURS}`
      : `it does not speak TLS; write ${url.replace(/^https:/, 'http:')}`
  return code ?? causeMessage(error)
}

const causeMessage = (error: unknown): string => {
  const cause = causeOf(error)
  return cause instanceof Error && cause.message !== '' ? cause.message : 'the connection broke'
}
