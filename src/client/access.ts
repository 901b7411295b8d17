/** Access to a server: who one is there, and the tokens of others. */
import type { Role } from '../contract/access.ts'
import type { CreatedTokenAnswer, SessionAnswer, TokenAnswer } from '../contract/answers-access.ts'
import type { ClientOptions } from './transport.ts'
import { createTransport } from './transport.ts'

export interface TokenRequest {
  readonly name: string
  readonly role: Role
  /** Null for a token that does not expire. */
  readonly expiresInSeconds: number | null
}

/** Where tokens are kept: behind a server, or in a database at hand. */
export interface Tokens {
  create(request: TokenRequest): Promise<CreatedTokenAnswer>
  list(options: { readonly includeRevoked: boolean }): Promise<readonly TokenAnswer[]>
  /** Throws `not_found` when there is no such token. */
  revoke(id: string): Promise<TokenAnswer>
}

export const createRemoteTokens = (serverUrl: string, access: ClientOptions): Tokens => {
  const { json } = createTransport(serverUrl, access)
  return {
    create: async ({ name, role, expiresInSeconds }) => {
      const expiry = expiresInSeconds === null ? {} : { expires_in: expiresInSeconds }
      return (await json('POST', '/api/tokens', { body: { name, role, ...expiry } })) as CreatedTokenAnswer
    },
    list: async ({ includeRevoked }) => {
      const answer = await json('GET', `/api/tokens?include_revoked=${includeRevoked}`)
      return (answer as { tokens: readonly TokenAnswer[] }).tokens
    },
    revoke: async (id) => (await json('DELETE', `/api/tokens/${encodeURIComponent(id)}`)) as TokenAnswer,
  }
}

export const readSession = async (
  serverUrl: string,
  access: ClientOptions,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<SessionAnswer> =>
  (await createTransport(serverUrl, access).json('GET', '/api/session', { signal })) as SessionAnswer
