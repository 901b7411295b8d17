/** Files that workers fetch: code by path and version, objects by key. Services around the server use the internal token. */
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ObjectAnswer, PluginAnswer } from '../../contract/answers-internal.ts'
import { ObjectUploadQuery, PluginQuery, PluginUploadQuery } from '../../contract/api-internal.ts'
import { ProblemError } from '../../contract/problem.ts'
import type { StoredFile } from '../../store/files.ts'
import { readObject, readPlugin, writeObject, writePlugin } from '../../store/files.ts'
import type { ServerContext } from '../app.ts'
import { bytesOf, installBytesParser, takeBytes } from '../raw-body.ts'
import { route } from '../route.ts'

const BODY_LIMIT = 64 * 1024 * 1024
const MAX_KEY = 1024
const tag = 'internal'
const access = 'worker'
const BYTES = 'application/octet-stream'

export const fileRoutes = (app: FastifyInstance, context: ServerContext): void => {
  installBytesParser(app)
  pluginRoutes(app, context)
  objectRoutes(app, context)
}

const pluginRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  route(
    app,
    {
      method: 'POST',
      url: '/api/internal/plugins/*',
      name: 'storePlugin',
      tag,
      // Workers run it: whoever may store it decides what they do.
      access: 'operator',
      orInternal: true,
      summary: 'Store code that workers load',
      description: 'Replaces what was stored under the same path and version.',
      query: PluginUploadQuery,
      bodyType: BYTES,
      bodyLimit: BODY_LIMIT,
      answer: PluginAnswer,
      problems: ['too_large'],
    },
    async ({ request, query: { version, media_type } }) => {
      const path = keyOf(request)
      const bytes = bytesOf(request)
      const digest = digestOf(bytes)
      await writePlugin(core.shards.cluster, { path, version, digest, mediaType: media_type, bytes })
      return { path, version, digest, bytes: bytes.length }
    },
    { onRequest: takeBytes },
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/internal/plugins/*',
      name: 'loadPlugin',
      tag,
      access,
      orInternal: true,
      summary: 'Load code',
      description: 'With `digest` the answer is the expected one or 409.',
      query: PluginQuery,
      answerType: BYTES,
      problems: ['not_found', 'conflict'],
    },
    async ({ request, reply, query: { version, digest } }) => {
      const path = keyOf(request)
      const plugin = await readPlugin(core.shards.cluster, path, version)
      if (!plugin) throw new ProblemError('not_found', `Plugin not found: ${path} version ${version}`)
      if (digest !== undefined && digest.toLowerCase() !== plugin.digest)
        throw new ProblemError(
          'conflict',
          `Plugin ${path} version ${version} has digest ${plugin.digest}, not ${digest}`,
        )
      return send(reply, plugin)
    },
  )
}

const objectRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  route(
    app,
    {
      method: 'PUT',
      url: '/api/internal/objects/*',
      name: 'storeObject',
      tag,
      access,
      orInternal: true,
      summary: 'Store a file',
      description: 'Replaces what was stored under the same key.',
      query: ObjectUploadQuery,
      bodyType: BYTES,
      bodyLimit: BODY_LIMIT,
      answer: ObjectAnswer,
      problems: ['too_large'],
    },
    async ({ request, query: { media_type } }) => {
      const key = keyOf(request)
      const bytes = bytesOf(request)
      const digest = digestOf(bytes)
      await writeObject(core.shards.cluster, { key, digest, mediaType: media_type, bytes })
      return { key, digest, bytes: bytes.length }
    },
    { onRequest: takeBytes },
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/internal/objects/*',
      name: 'loadObject',
      tag,
      access,
      orInternal: true,
      summary: 'Load a file',
      answerType: BYTES,
      problems: ['not_found'],
    },
    async ({ request, reply }) => {
      const key = keyOf(request)
      const object = await readObject(core.shards.cluster, key)
      if (!object) throw new ProblemError('not_found', `Object not found: ${key}`)
      return send(reply, object)
    },
  )
}

const keyOf = (request: FastifyRequest): string => {
  const key = (request.params as { '*': string })['*']
  if (key === '' || key.length > MAX_KEY || key.includes('\0'))
    throw new ProblemError('bad_request', `A key has 1 to ${MAX_KEY} characters`)
  return key
}

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Types come from those who store files: a browser must not take one for a page of ours. */
const send = (reply: FastifyReply, { digest, media_type, bytes }: StoredFile): FastifyReply =>
  reply
    .header('etag', `"${digest}"`)
    .header('content-security-policy', 'sandbox')
    .header('content-disposition', 'attachment')
    .type(/^[\w.+-]+\/[\w.+-]+(?:\s*;.*)?$/.test(media_type) ? media_type : BYTES)
    .send(bytes)
