/**
 * Requests to a NoETL server.
 *
 * 1. Whatever goes wrong is a ProblemError: a refusal with the server's own code and words, anything below HTTP as
 *    `unavailable`. Only an abort by the caller's signal is passed on as it is.
 * 2. 64-bit integers in answers arrive as text, digit for digit.
 */
import type { Json } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type { ProblemCode } from '../contract/problem.ts'
import { PROBLEM_STATUS, ProblemError } from '../contract/problem.ts'
import { parseJson } from '../lib/exact-json.ts'

export interface RequestOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

export interface Transport {
  /** Without a slash at the end. */
  readonly url: string
  /** The JSON answer of a request. */
  json(method: 'GET' | 'POST', path: string, options?: RequestOptions): Promise<unknown>
  /** The open answer of a request, for reading as it arrives. */
  open(path: string, options?: RequestOptions): Promise<Response>
}

export const createTransport = (serverUrl: string): Transport => {
  const url = checkedUrl(serverUrl)

  const send = async (method: string, path: string, options: RequestOptions): Promise<Response> => {
    const { body, headers = {}, signal } = options
    try {
      return await fetch(url + path, {
        method,
        headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
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
      if (!response.ok) throw refusal(url, response.status, answer)
      return answer
    },
    open: async (path, options = {}) => {
      const response = await send('GET', path, options)
      if (response.ok) return response
      throw refusal(url, response.status, await readAnswer(url, response, options.signal))
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
    throw new ProblemError('unavailable', `${url} did not answer with JSON; is it a NoETL server?`, {
      cause: error,
    })
  }
}

const refusal = (url: string, status: number, answer: unknown): ProblemError => {
  if (!isObject(answer) || typeof answer['error'] !== 'string') {
    return new ProblemError(codeOf(status, null), `${url} answered ${status}; is it a NoETL server?`)
  }
  const { error, code, details } = answer
  return new ProblemError(codeOf(status, code ?? null), error, details === undefined ? {} : { details })
}

const codeOf = (status: number, code: Json): ProblemCode => {
  if (typeof code === 'string' && Object.hasOwn(PROBLEM_STATUS, code)) return code as ProblemCode
  if (status >= 500) return status === 500 ? 'internal' : 'unavailable'
  const known = (Object.keys(PROBLEM_STATUS) as ProblemCode[]).find((word) => PROBLEM_STATUS[word] === status)
  return known ?? 'bad_request'
}

const connectionProblem = (url: string, error: unknown, signal: AbortSignal | undefined): unknown => {
  if (signal?.aborted === true) return error
  return new ProblemError('unavailable', `No answer from ${url} (${reasonOf(error)})`, { cause: error })
}

/** fetch hides why behind `fetch failed`. */
const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = (cause as { code?: unknown }).code
  if (code === 'ECONNREFUSED') return 'connection refused'
  if (code === 'ENOTFOUND') return 'unknown host'
  if (typeof code === 'string') return code
  return cause instanceof Error && cause.message !== '' ? cause.message : 'the connection broke'
}
