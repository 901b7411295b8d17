/**
 * Tokens and sessions.
 *
 * 1. A token is shown once, in the answer that creates it. The first one closes an open server.
 * 2. A token that is revoked is refused here at once, and by other servers within seconds.
 * 3. A browser session is the caller's own token in a cookie that scripts cannot read; see access/credentials.ts.
 */
import type { FastifyInstance } from 'fastify'
import { CreateTokenRequest, TokenListQuery } from '../../contract/api-access.ts'
import {
  CreatedTokenAnswer,
  SessionAnswer,
  TokenAnswer,
  TokenListAnswer,
} from '../../contract/answers-access.ts'
import { ProblemError } from '../../contract/problem.ts'
import { listTokens, revokeToken } from '../../store/tokens.ts'
import { actorOf, ANONYMOUS } from '../access/caller.ts'
import { presentedToken, sessionCookie } from '../access/credentials.ts'
import { openAccess } from '../access/install.ts'
import { createToken, tokenAnswer } from '../access/tokens.ts'
import type { ServerContext } from '../app.ts'
import { pathId } from '../http.ts'
import { route } from '../route.ts'

const tag = 'access'

export const accessTokenRoutes = (
  app: FastifyInstance,
  { core, access: { door } = openAccess() }: ServerContext,
): void => {
  const { cluster } = core.shards

  route(
    app,
    {
      method: 'POST',
      url: '/api/tokens',
      name: 'createToken',
      tag,
      access: 'admin',
      summary: 'Create an access token',
      description:
        'The answer is the only place where the token is shown. The first token of a server closes it to callers without one.',
      body: CreateTokenRequest,
      answer: CreatedTokenAnswer,
    },
    async ({ request, body: { name, role, expires_in } }) => {
      const created = await createToken(cluster, {
        name,
        role,
        expiresInSeconds: expires_in ?? null,
        createdBy: actorOf(request.caller ?? ANONYMOUS),
      })
      door.changed(created.id)
      return created
    },
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/tokens',
      name: 'listTokens',
      tag,
      access: 'admin',
      summary: 'List access tokens',
      query: TokenListQuery,
      answer: TokenListAnswer,
    },
    async ({ query: { include_revoked } }) => {
      const rows = await listTokens(cluster, { includeRevoked: include_revoked })
      return { tokens: rows.map(tokenAnswer) }
    },
  )

  route(
    app,
    {
      method: 'DELETE',
      url: '/api/tokens/:id',
      name: 'revokeToken',
      tag,
      access: 'admin',
      summary: 'Revoke an access token',
      description: 'It is refused at once, by other servers on the same database within five seconds.',
      answer: TokenAnswer,
      problems: ['not_found'],
    },
    async ({ request }) => {
      const id = pathId(request, 'id')
      const row = await revokeToken(cluster, id, actorOf(request.caller ?? ANONYMOUS))
      if (!row) throw new ProblemError('not_found', `Token not found: ${id}`)
      door.changed(id)
      return tokenAnswer(row)
    },
  )
}

export const sessionRoutes = (
  app: FastifyInstance,
  { access: { door } = openAccess() }: ServerContext,
): void => {
  const answer = SessionAnswer

  route(
    app,
    {
      method: 'GET',
      url: '/api/session',
      name: 'getSession',
      tag,
      access: 'viewer',
      summary: 'Who the caller is',
      answer,
    },
    async ({ request }) => sessionAnswer(request.caller ?? ANONYMOUS, await door.isOpen()),
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/session',
      name: 'openSession',
      tag,
      access: 'viewer',
      summary: 'Remember the token of this request in the browser',
      description:
        'Sets a cookie that counts for requests that change nothing, so that event streams and links work in a browser.',
      answer,
      problems: ['bad_request'],
    },
    async ({ request, reply }) => {
      const presented = presentedToken(request)
      if (!presented) throw new ProblemError('bad_request', 'This request has no token to remember')
      void reply.header('set-cookie', sessionCookie(presented.token, request.protocol === 'https'))
      return sessionAnswer(request.caller ?? ANONYMOUS, await door.isOpen())
    },
  )

  route(
    app,
    {
      method: 'DELETE',
      url: '/api/session',
      name: 'closeSession',
      tag,
      access: 'public',
      summary: 'Forget the token in the browser',
      status: 204,
    },
    ({ request, reply }) =>
      reply
        .code(204)
        .header('set-cookie', sessionCookie(null, request.protocol === 'https'))
        .send(),
  )
}

const sessionAnswer = (
  { name, role, tokenId, expiresAt }: typeof ANONYMOUS,
  open: boolean,
): SessionAnswer => ({ name, role, token_id: tokenId, expires_at: expiresAt, open })
