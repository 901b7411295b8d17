/** The HTTP face of a test server: asked as a client asks, but without a port. */
import type { FastifyInstance } from 'fastify'
import type { JsonObject } from '../../src/contract/json.ts'
import { parseJson } from '../../src/lib/exact-json.ts'
import { describeAnswers } from './described-answers.ts'

export interface Response {
  readonly status: number
  /** The JSON body; 64-bit integers are text. */
  readonly body: JsonObject
  /** The body as it was sent. */
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'

export interface HttpFace {
  /** Text is sent as it is, anything else as JSON. */
  send(method: Method, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
  get(path: string): Promise<Response>
  post(path: string, body: unknown): Promise<Response>
}

export interface Question {
  readonly method: Method
  readonly path: string
  /** Text is sent as it is, anything else as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The address that the request comes from. */
  readonly from?: string
}

export const ask = async (app: FastifyInstance, question: Question): Promise<Response> => {
  const { method, path, body, headers = {}, from } = question
  const answer = await app.inject({
    method,
    url: path,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(from === undefined ? {} : { remoteAddress: from }),
  })
  return {
    status: answer.statusCode,
    body: bodyOf(answer.body),
    text: answer.body,
    headers: answer.headers,
  }
}

/** Every answer is held against what its route says of itself. */
export const createHttpFace = (app: FastifyInstance): HttpFace => {
  const answers = describeAnswers(app)
  const send: HttpFace['send'] = async (method, path, body, headers = {}) => {
    const response = await ask(app, { method, path, body, headers })
    answers.verify()
    return response
  }
  return {
    send,
    get: (path) => send('GET', path),
    post: (path, body) => send('POST', path, body),
  }
}

const bodyOf = (text: string): JsonObject => {
  try {
    return parseJson(text) as JsonObject
  } catch {
    return {}
  }
}
