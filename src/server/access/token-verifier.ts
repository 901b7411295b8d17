/**
 * Tells whose token it is.
 *
 * 1. A token that was looked up is believed for a few seconds; a revocation on this server counts at once, on another
 *    one after those seconds. Expiry is looked at on every use.
 * 2. What was wrong with a token is told only to somebody who has its secret.
 * 3. The use of a token is recorded at most once a minute, beside the request and not before it.
 */
import type { Role } from '../../contract/access.ts'
import { digestOf, parseToken, sameDigest } from '../../lib/access-token.ts'
import { createLru } from '../../lib/lru.ts'
import type { Database } from '../../store/database.ts'
import { readToken, recordTokenUse } from '../../store/tokens.ts'
import type { Log } from '../log.ts'
import type { Caller } from './caller.ts'

const BELIEVED_MS = 5000
const USE_RECORDED_MS = 60_000
const KEPT = 10_000

export type Verdict = { readonly caller: Caller } | { readonly refusal: string }

export interface TokenVerifier {
  verify(text: string): Promise<Verdict>
  /** True for a token that was right a while ago and may still be: its holder is no guesser. */
  isKnown(text: string): boolean
  /** The next use is looked up. */
  forget(id: string): void
}

export interface TokenVerifierOptions {
  readonly database: Database
  readonly log: Log
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

interface Entry {
  readonly digest: Buffer
  readonly name: string
  readonly role: Role
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly readAt: number
}

const UNKNOWN: Verdict = { refusal: 'The token is not valid' }

export const createTokenVerifier = ({
  database,
  log,
  now = Date.now,
}: TokenVerifierOptions): TokenVerifier => {
  const entries = createLru<string, Entry>(KEPT)
  const recordedAt = createLru<string, number>(KEPT)

  const entryOf = async (id: string): Promise<Entry | null> => {
    const kept = entries.get(id)
    if (kept && Math.abs(now() - kept.readAt) < BELIEVED_MS) return kept
    const row = await readToken(database, id)
    if (!row) return null
    const entry = {
      digest: row.secret_digest,
      name: row.name,
      role: row.role,
      expiresAt: row.expires_at,
      revokedAt: row.revoked_at,
      readAt: now(),
    }
    entries.set(id, entry)
    return entry
  }

  const recordUse = (id: string): void => {
    const last = recordedAt.get(id)
    if (last !== undefined && Math.abs(now() - last) < USE_RECORDED_MS) return
    recordedAt.set(id, now())
    recordTokenUse(database, id).catch((error: unknown) =>
      log.warn({ token_id: id, error }, 'the use of a token was not recorded'),
    )
  }

  return {
    verify: async (text) => {
      const parts = parseToken(text)
      const entry = parts && (await entryOf(parts.id))
      if (!entry || !sameDigest(entry.digest, digestOf(parts.secret))) return UNKNOWN
      const { name, role, expiresAt, revokedAt } = entry
      if (revokedAt !== null) return { refusal: `The token '${name}' was revoked` }
      if (expiresAt !== null && Date.parse(expiresAt) <= now())
        return { refusal: `The token '${name}' expired at ${expiresAt}` }
      recordUse(parts.id)
      return { caller: { name, role, tokenId: parts.id, expiresAt } }
    },
    isKnown: (text) => {
      const parts = parseToken(text)
      const entry = parts && entries.get(parts.id)
      return entry ? sameDigest(entry.digest, digestOf(parts.secret)) : false
    },
    forget: (id) => entries.delete(id),
  }
}
