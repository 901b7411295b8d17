/**
 * Bodies above a megabyte, read without holding up others.
 *
 * 1. A large JSON body is parsed in pieces, between which others have their turn; its route sees no difference.
 * 2. The data of a result that is to be stored does not become an object at all: the thread looks through it, and its route gets
 *    a stand-in, for which `digestOf` answers what the thread found.
 * 3. Nobody can ask for these readings by name: only requests that were found to be large get them.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LARGE_BYTES } from '../../contract/large-data.ts'
import { ProblemError } from '../../contract/problem.ts'
import { parseJson } from '../../lib/exact-json.ts'
import { parseLarge } from '../../lib/parse-large.ts'
import { withoutPrototypeKeys } from '../body-shape.ts'
import type { DataThread } from './data-thread.ts'
import type { Digest } from './digest.ts'

const JSON_TYPE = /^application\/json\s*(?:;|$)/i
const LARGE_JSON = 'application/x-noetl-large-json'
const RESULT_BODY = 'application/x-noetl-result'

const large = new WeakSet<FastifyRequest>()
const digests = new WeakMap<object, Digest>()

/** What the thread found out about data that came in a large body; undefined for any other data. */
export const digestOf = (data: unknown): Digest | undefined =>
  typeof data === 'object' && data !== null ? digests.get(data) : undefined

/** A hook for `onRequest` of routes that store results. */
export const takeResultBody = async (request: FastifyRequest): Promise<void> => {
  if (large.has(request)) request.headers['content-type'] = RESULT_BODY
}

export const installLargeBodies = (app: FastifyInstance, thread: DataThread): void => {
  app.addHook('onRequest', async (request) => {
    const { 'content-type': type = '', 'content-length': length } = request.headers
    if (!(Number(length) > LARGE_BYTES) || !JSON_TYPE.test(type)) return
    large.add(request)
    request.headers['content-type'] = LARGE_JSON
  })
  app.addContentTypeParser(
    LARGE_JSON,
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      needLarge(request)
      return withoutPrototypeKeys(await parseBody(body))
    },
  )
  app.addContentTypeParser(
    RESULT_BODY,
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      needLarge(request)
      const answer = await thread.envelope(body)
      if ('problem' in answer) throw new ProblemError(answer.problem.code, answer.problem.message)
      const { facts, digest } = answer
      // A body that is no mapping is refused where it is checked.
      if (facts === null) return []
      if (digest === null) return facts
      const standIn = {}
      digests.set(standIn, digest)
      return { ...facts, data: standIn }
    },
  )
}

const needLarge = (request: FastifyRequest): void => {
  if (!large.has(request)) throw new ProblemError('unsupported_media_type', 'Unsupported Media Type')
}

const parseBody = async (body: Buffer): Promise<unknown> => {
  try {
    return await parseLarge(body, { parse: parseJson })
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new ProblemError('bad_request', `The body is not JSON: ${error.message}`)
  }
}
