/**
 * Who is let in. The door knows the ways to show who one is; what the caller may do then is not its business.
 *
 * 1. A server is open, and whoever comes without credentials an admin, only while nobody has made a token: none was
 *    ever created in its database and none was given by the environment. From the first one on it stays closed, also
 *    when that one expires or is revoked. `required` closes it from the start, `open` keeps it open.
 * 2. Wrong credentials are refused, on an open server too: somebody who shows a token wants to be known by it.
 * 3. An address that failed too often is not heard for a while, except with a token that was right before.
 */
import { digestOf, sameDigest } from '../../lib/access-token.ts'
import type { Database } from '../../store/database.ts'
import { hasTokens } from '../../store/tokens.ts'
import type { Log } from '../log.ts'
import type { Caller } from './caller.ts'
import { ANONYMOUS, ENVIRONMENT, LOCAL } from './caller.ts'
import type { FailureLimiter } from './failure-limiter.ts'
import { createFailureLimiter } from './failure-limiter.ts'
import { createTokenVerifier } from './token-verifier.ts'

export const AUTH_MODES = ['auto', 'required', 'open'] as const
export type AuthMode = (typeof AUTH_MODES)[number]

export type Entrance =
  | { readonly caller: Caller }
  /** No credentials, and they are needed. */
  | { readonly missing: true }
  | { readonly refusal: string }
  | { readonly waitSeconds: number }

export interface Door {
  /** `token` is what was presented; null for nothing. */
  enter(token: string | null, address: string): Promise<Entrance>
  /** Whether callers without credentials are let in. */
  isOpen(): Promise<boolean>
  /** Seconds until a token from this address is looked at; 0 for now. */
  waitSeconds(token: string, address: string): number
  /** Told when a token was created or revoked here. */
  changed(tokenId: string): void
}

export interface DoorOptions {
  readonly mode: AuthMode
  readonly database: Database
  readonly log: Log
  /** An admin's, from the environment. */
  readonly adminToken?: string | null
  /** For commands on this machine that can read the data directory. */
  readonly localToken?: string | null
  readonly failures?: FailureLimiter
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

/** Another server may create the first token: this long an open one may not know. */
const LOOK_AGAIN_MS = 1000

export const createDoor = (options: DoorOptions): Door => {
  const { mode, database, log, adminToken = null, localToken = null, now = Date.now } = options
  const failures = options.failures ?? createFailureLimiter()
  const verifier = createTokenVerifier({ database, log, now })
  const fixed = [
    ...(adminToken === null ? [] : [{ digest: digestOf(adminToken), caller: ENVIRONMENT }]),
    ...(localToken === null ? [] : [{ digest: digestOf(localToken), caller: LOCAL }]),
  ]
  let closed = mode === 'required' || (mode === 'auto' && adminToken !== null)
  let lookedAt = -Infinity

  const isOpen = async (): Promise<boolean> => {
    if (mode === 'open') return true
    if (closed || Math.abs(now() - lookedAt) < LOOK_AGAIN_MS) return !closed
    const found = await hasTokens(database)
    lookedAt = now()
    closed ||= found
    return !closed
  }

  const verify = async (token: string): Promise<Entrance> => {
    const digest = digestOf(token)
    const known = fixed.find((each) => sameDigest(each.digest, digest))
    return known ?? verifier.verify(token)
  }

  const waitSeconds: Door['waitSeconds'] = (token, address) => {
    const seconds = failures.waitSeconds(address)
    return seconds > 0 && verifier.isKnown(token) ? 0 : seconds
  }

  return {
    isOpen,
    waitSeconds,
    changed: (tokenId) => {
      if (mode === 'auto') closed = true
      verifier.forget(tokenId)
    },
    enter: async (token, address) => {
      if (token === null) return (await isOpen()) ? { caller: ANONYMOUS } : { missing: true }
      const seconds = waitSeconds(token, address)
      if (seconds > 0) return { waitSeconds: seconds }
      const entrance = await verify(token)
      if ('refusal' in entrance) {
        failures.failed(address)
        log.warn({ address, reason: entrance.refusal }, 'a token was refused')
      }
      return entrance
    },
  }
}

/** Everybody is let in; for a face without a database of tokens, as tests use it. */
export const createOpenDoor = (): Door => ({
  waitSeconds: () => 0,
  isOpen: async () => true,
  changed: () => undefined,
  enter: async (token) => (token === null ? { caller: ANONYMOUS } : { refusal: 'The token is not valid' }),
})
