/** The door to `/api/internal/*`: a bearer token, compared in constant time, before the body is read. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

export type InternalGate = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>

/** A hook for `onRequest`. Without a token nobody gets in. */
export const createInternalGate = (token: string | null): InternalGate => {
  const expected = token?.trim() ?? ''
  return async (request, reply) => {
    if (expected === '') {
      return refuse(
        reply,
        503,
        'unavailable',
        'Internal API not configured: NOETL_INTERNAL_API_TOKEN env var unset on the server.',
      )
    }
    const refusal = refusalOf(request.headers.authorization, expected)
    return refusal === null ? undefined : refuse(reply, 403, 'forbidden', refusal)
  }
}

const refusalOf = (header: string | undefined, expected: string): string | null => {
  if (header === undefined) return 'Internal API requires Authorization header with Bearer token.'
  // oxlint-disable-next-line no-control-regex -- this is what is looked for
  if (/[^\u0000-\u007f]/.test(header)) return 'Internal API Authorization header is not valid ASCII.'
  const space = header.indexOf(' ')
  const scheme = space === -1 ? header : header.slice(0, space)
  const given = space === -1 ? '' : header.slice(space + 1).trim()
  if (scheme.toLowerCase() !== 'bearer' || given === '')
    return "Internal API requires 'Bearer <token>' Authorization scheme."
  return timingSafeEqual(digest(given), digest(expected))
    ? null
    : 'Invalid service-account token for /api/internal/*.'
}

/** Equal lengths, whatever was sent. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const refuse = (reply: FastifyReply, status: number, code: string, error: string): FastifyReply =>
  reply.code(status).send({ error, status, code })
