/** What every route shares: reading bodies exactly, checking them, and one shape for errors. */
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { parseId } from '../contract/ids.ts'
import type { ProblemCode } from '../contract/problem.ts'
import { PROBLEM_STATUS, ProblemError } from '../contract/problem.ts'
import { parseJson } from '../lib/exact-json.ts'
import { databaseProblem } from '../store/failure.ts'
import type { Log } from './log.ts'
import { createRouteTable } from './route-table.ts'

/** Checks a body, a query or a path against its schema. */
export const check = <S extends z.ZodType>(schema: S, value: unknown): z.output<S> => {
  const result = schema.safeParse(value ?? {})
  if (result.success) return result.data
  const issues = result.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }))
  throw new ProblemError('invalid', describeIssue(issues[0]), { details: { issues } })
}

/** The issue with its place, unless its own words name it. */
const describeIssue = (issue: { path: string; message: string } | undefined): string => {
  if (!issue) return 'invalid request'
  const { path, message } = issue
  return path === '' || message.startsWith('Invalid ') || message.includes(path)
    ? message
    : `${path}: ${message}`
}

/** The id in a path, such as `/executions/{execution_id}`. */
export const pathId = (request: FastifyRequest, name: string): string => {
  const raw = (request.params as Record<string, string>)[name] ?? ''
  const id = parseId(raw)
  if (id === null) throw new ProblemError('bad_request', `Invalid ${name}: '${raw}' is not a number`)
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

/** Deeper values exhaust the stack of whoever walks them; PostgreSQL's, too. */
const MAX_DEPTH = 500

/** JSON.parse makes `__proto__` an own key; copying such an object would change its prototype. */
const withoutPrototypeKeys = (value: unknown): unknown => {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH)
      throw new ProblemError('invalid', `The body is nested more than ${MAX_DEPTH} levels deep`)
    const next: unknown[] = []
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue
      if (Object.hasOwn(item, '__proto__')) delete (item as Record<string, unknown>)['__proto__']
      for (const child of Object.values(item))
        if (typeof child === 'object' && child !== null) next.push(child)
    }
    level = next
  }
  return value
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

type RequestError = Error & { code?: string; statusCode?: number }

/** Also for errors that happen before a route is found, such as a path that cannot be decoded. */
export const createErrorHandler =
  (log: Log) =>
  async (error: RequestError, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const problem = error instanceof ProblemError ? error : databaseProblem(error)
    if (problem) return sendProblem(reply, problem.code, problem.message, problem.details)
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

/** A request that is not HTTP never becomes a request: the answer is written to the bare connection. */
export const refuseBrokenRequest = (error: Error, socket: Socket): void => {
  if (!socket.writable) return void socket.destroy()
  const body = JSON.stringify({
    error: `Malformed HTTP request: ${error.message}`,
    status: 400,
    code: 'bad_request',
  })
  const head = `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`
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
  return gone.signal
}
