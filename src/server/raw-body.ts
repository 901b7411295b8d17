/**
 * Bodies that are taken byte by byte, whatever they are said to be: a JSON file that somebody stores must come back as
 * it was sent. Such a route tells the reader of bodies with a type of its own.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'

const BYTES = 'application/x-noetl-bytes'

export const installBytesParser = (app: FastifyInstance): void => {
  app.addContentTypeParser(BYTES, { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

/** A hook for `onRequest` of routes that take bytes. */
export const takeBytes = async (request: FastifyRequest): Promise<void> => {
  request.headers['content-type'] = BYTES
}

export const bytesOf = (request: FastifyRequest): Buffer =>
  Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
