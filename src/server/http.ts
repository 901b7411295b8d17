/** What every route shares: reading bodies exactly, checking them, and one shape for errors. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { parseId } from '../contract/ids.ts'
import type { ProblemCode } from '../contract/problem.ts'
import { PROBLEM_STATUS, ProblemError } from '../contract/problem.ts'
import { parseJson } from '../lib/exact-json.ts'
import type { Log } from './log.ts'

/** Checks a body, a query or a path against its schema. */
export const check = <S extends z.ZodType>(schema: S, value: unknown): z.output<S> => {
  const result = schema.safeParse(value ?? {})
  if (result.success) return result.data
  const issues = result.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }))
  const [first] = issues
  const message = first ? (first.path === '' || first.message.startsWith('Invalid ') ? first.message : `${first.path}: ${first.message}`) : 'invalid request'
  throw new ProblemError('invalid', message, { details: { issues } })
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
      done(new ProblemError('bad_request', `The body is not JSON: ${error instanceof Error ? error.message : String(error)}`))
    }
    return undefined
  })
}

/** JSON.parse makes `__proto__` an own key; copying such an object would change its prototype. */
const withoutPrototypeKeys = (value: unknown): unknown => {
  const pending: unknown[] = [value]
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    if (typeof item !== 'object' || item === null) continue
    if (Object.hasOwn(item, '__proto__')) delete (item as Record<string, unknown>)['__proto__']
    for (const child of Object.values(item)) if (typeof child === 'object' && child !== null) pending.push(child)
  }
  return value
}

const sendProblem = async (reply: FastifyReply, code: ProblemCode, message: string, details?: unknown): Promise<void> => {
  const status = PROBLEM_STATUS[code]
  await reply.code(status).send({ error: message, status, code, ...(details === undefined ? {} : { details }) })
}

const FRAMEWORK_CODES: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'bad_request',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'bad_request',
}

export const installErrorHandlers = (app: FastifyInstance, log: Log): void => {
  app.setErrorHandler(async (error: Error & { code?: string; statusCode?: number }, request, reply) => {
    if (error instanceof ProblemError) return sendProblem(reply, error.code, error.message, error.details)
    const known = FRAMEWORK_CODES[error.code ?? '']
    if (known) return sendProblem(reply, known, error.message)
    if (error.statusCode !== undefined && error.statusCode < 500) return sendProblem(reply, 'bad_request', error.message)
    log.error({ method: request.method, url: request.url, error }, 'request failed')
    return sendProblem(reply, 'internal', 'Internal error; the server log has the details')
  })
  app.setNotFoundHandler(async (request, reply) => {
    await sendProblem(reply, 'not_found', `no route matched ${request.method} ${request.url.split('?')[0] ?? ''}`)
  })
}
