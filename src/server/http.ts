/** What every route shares: reading bodies exactly, checking them, and one shape for errors. */
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { notAnId, parseId } from '../contract/ids.ts'
import type { ProblemCode } from '../contract/problem.ts'
import { PROBLEM_STATUS, ProblemError } from '../contract/problem.ts'
import { parseJson } from '../lib/exact-json.ts'
import { databaseProblem, isOutage } from '../store/failure.ts'
import { withoutPrototypeKeys } from './body-shape.ts'
import type { Log } from './log.ts'
import { createRouteTable } from './route-table.ts'

/** Checks a body, a query or a path against its schema. */
export const check = <S extends z.ZodType>(
  schema: S,
  value: unknown,
  code: ProblemCode = 'invalid',
): z.output<S> => {
  const result = schema.safeParse(value ?? {})
  if (result.success) return result.data
  const issues = result.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }))
  throw new ProblemError(code, describeIssue(issues[0]), { details: { issues } })
}

/** The issue with its place, unless its own words name it. */
const describeIssue = (issue: { path: string; message: string } | undefined): string => {
  if (!issue) return 'invalid request'
  const { path, message } = issue
  const name = path.split('.').at(-1) ?? path
  const isNamed = message.startsWith(`Invalid ${name}`) || message.split(/[^\w.]+/).includes(path)
  return path === '' || isNamed ? message : `${path}: ${message}`
}

/** The id in a path, such as `/executions/{execution_id}`. */
export const pathId = (request: FastifyRequest, name: string): string => {
  const raw = (request.params as Record<string, string>)[name] ?? ''
  const id = parseId(raw)
  if (id === null) throw new ProblemError('bad_request', `Invalid ${name}: ${notAnId(raw)}`)
  return id
}

export const installJsonParser = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    const text = String(body)
    if (text.trim() === '') return done(null, undefined)
    try {
      done(null, withoutPrototypeKeys(parseJson(text)))
    } catch (error) {
      if (error instanceof ProblemError) return done(error)
      done(
        new ProblemError(
          'bad_request',
          `The body is not JSON: ${error instanceof Error ? error.message : String(error)}`,
        ),
      )
    }
    return undefined
  })
}

const sendProblem = async (
  reply: FastifyReply,
  code: ProblemCode,
  message: string,
  details?: unknown,
): Promise<void> => {
  const status = PROBLEM_STATUS[code]
  await reply
    .code(status)
    .send({ error: message, status, code, ...(details === undefined ? {} : { details }) })
}

const FRAMEWORK_CODES: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'bad_request',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'bad_request',
}

/** When to come back after the database was away: soon, but not at once. */
const RETRY_AFTER_SECONDS = '2'

type RequestError = Error & { code?: string; statusCode?: number }

/** Also for errors that happen before a route is found, such as a path that cannot be decoded. */
export const createErrorHandler =
  (log: Log) =>
  async (error: RequestError, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const problem = error instanceof ProblemError ? error : databaseProblem(error)
    if (problem) {
      if (isOutage(error) || isOutage(problem.cause)) void reply.header('retry-after', RETRY_AFTER_SECONDS)
      return sendProblem(reply, problem.code, problem.message, problem.details)
    }
    const known = FRAMEWORK_CODES[error.code ?? '']
    if (known) return sendProblem(reply, known, error.message)
    if (error.statusCode !== undefined && error.statusCode < 500)
      return sendProblem(reply, 'bad_request', error.message)
    log.error({ method: request.method, url: request.url, error }, 'request failed')
    return sendProblem(reply, 'internal', 'Internal error; the server log has the details')
  }

/** Must be called before the routes are added: it takes note of them. */
export const installErrorHandlers = (app: FastifyInstance, log: Log): void => {
  app.setErrorHandler(createErrorHandler(log))
  const allowedMethods = createRouteTable(app)
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?')[0] ?? ''
    const allowed = allowedMethods(path)
    if (allowed.length === 0)
      return sendProblem(reply, 'not_found', `no route matched ${request.method} ${path}`)
    void reply.header('allow', allowed.join(', '))
    return sendProblem(
      reply,
      'method_not_allowed',
      `${path} does not take ${request.method}; it takes ${allowed.join(', ')}`,
    )
  })
}

/** A request that is not HTTP, or does not arrive in time, never becomes a request: the bare connection is answered. */
export const refuseBrokenRequest = (error: Error & { code?: string }, socket: Socket): void => {
  if (!socket.writable) return void socket.destroy()
  const [status, words] =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? [408, 'Request Timeout'] : [400, 'Bad Request']
  const body = JSON.stringify({
    error: status === 408 ? 'The request did not arrive in time' : `Malformed HTTP request: ${error.message}`,
    status,
    code: 'bad_request',
  })
  const head = [
    `HTTP/1.1 ${status} ${words}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'x-content-type-options: nosniff',
    'connection: close',
  ].join('\r\n')
  socket.end(`${head}\r\n\r\n${body}`)
}

/** Aborts when the client goes away or the server stops, so that nobody is waited for in vain. */
export const goneSignal = (reply: FastifyReply, closing: AbortSignal): AbortSignal => {
  const gone = new AbortController()
  const abort = (): void => gone.abort()
  closing.addEventListener('abort', abort)
  // Of the response, not of the connection, which carries many requests.
  reply.raw.once('close', () => {
    closing.removeEventListener('abort', abort)
    abort()
  })
  // Neither is told again to those who come afterwards.
  if (closing.aborted || reply.raw.destroyed) abort()
  return gone.signal
}
