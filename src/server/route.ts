/**
 * Routes, declared as data. A declaration says what a route takes, answers and asks of its caller; from it come the
 * check of the request, the access control and the API document, so that the three cannot drift apart.
 *
 * 1. A handler sees only checked values: `query`, `headers` and `body` are the outputs of the declared schemas.
 * 2. What is not declared is not read: a route without `body` gets undefined.
 * 3. Every route of the server is declared this way; a test compares the framework's table with the document.
 * 4. Answers are not checked where they are made, but every answer of the test suite is.
 */
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HTTPMethods,
  onRequestAsyncHookHandler,
} from 'fastify'
import type { z } from 'zod'
import type { Access } from '../contract/access.ts'
import type { ProblemCode } from '../contract/problem.ts'
import { check } from './http.ts'

export interface RouteSpec {
  readonly method: HTTPMethods
  /** With parameters as `:name`; a parameter that ends in `_id` is an id. */
  readonly url: string
  /** Its name in the document and in generated clients, such as `leaseCommands`; made of method and path if absent. */
  readonly name?: string
  /** The group it stands in, in the document. */
  readonly tag: string
  /** One line, without a full stop. */
  readonly summary: string
  readonly description?: string
  /** Works, but there is a better one; `description` says which. */
  readonly deprecated?: boolean
  readonly access: Access
  /** The internal token opens it, too. */
  readonly orInternal?: true
  readonly query?: z.ZodType
  /** The code of a refused query when it is not `invalid`. */
  readonly queryProblem?: ProblemCode
  /** Headers that it reads, under the names that the document gives them. */
  readonly headers?: z.ZodObject
  readonly body?: z.ZodType
  /** The media type of the body when it is not JSON; such a body is not described by a schema. */
  readonly bodyType?: string
  /** Documents what a success answers. Answers are built by code and are checked against it in tests. */
  readonly answer?: z.ZodType
  /** The media type of the answer when it is not JSON. */
  readonly answerType?: string
  /** The status of a success when it is not 200. */
  readonly status?: number
  /** What it answers with other statuses that are no problems; null for nothing. */
  readonly otherAnswers?: Readonly<Record<number, z.ZodType | null>>
  /** How it can fail besides a broken request, a missing right and a lost database. */
  readonly problems?: readonly ProblemCode[]
  /** Bytes a body may have when the server's limit does not fit. */
  readonly bodyLimit?: number
}

type Output<S> = S extends z.ZodType ? z.output<S> : undefined

export interface RouteCall<S extends RouteSpec> {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly query: Output<S['query']>
  readonly headers: Output<S['headers']>
  readonly body: Output<S['body']>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    spec?: RouteSpec
  }
}

/** The declarations of a server, in the order they were made. */
const declarations = new WeakMap<FastifyInstance, RouteSpec[]>()

export const declaredRoutes = (app: FastifyInstance): readonly RouteSpec[] => declarations.get(app) ?? []

interface RouteHooks {
  /** Runs before the body is read; what it sends is the answer. */
  readonly onRequest?: onRequestAsyncHookHandler
}

export const route = <const S extends RouteSpec>(
  app: FastifyInstance,
  spec: S,
  handler: (call: RouteCall<S>) => unknown,
  { onRequest }: RouteHooks = {},
): void => {
  const { method, url, query, queryProblem, headers, body, bodyLimit } = spec
  declarations.set(app, [...declaredRoutes(app), spec])
  app.route({
    method,
    url,
    config: { spec },
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
    ...(onRequest ? { onRequest } : {}),
    handler: async (request, reply) =>
      handler({
        request,
        reply,
        query: (query ? check(query, request.query, queryProblem) : undefined) as Output<S['query']>,
        headers: (headers ? check(headers, headersOf(headers, request)) : undefined) as Output<S['headers']>,
        body: (body ? check(body, request.body) : undefined) as Output<S['body']>,
      }),
  })
}

/** The declared headers of a request, which arrive in lower case. */
const headersOf = ({ shape }: z.ZodObject, { headers }: FastifyRequest): Record<string, unknown> =>
  Object.fromEntries(Object.keys(shape).map((name) => [name, headers[name.toLowerCase()]]))
