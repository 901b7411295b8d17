/**
 * The text of an access token: `noetl_<id>_<secret>`. The id says which row to look at, the secret proves the right.
 *
 * 1. The secret has 256 random bits. It cannot be guessed, so one round of SHA-256 keeps it: a slow hash protects weak
 *    secrets against guessing, which this is not, and would make every request slow.
 * 2. Only the digest is stored. Digests have one length and are compared in constant time.
 * 3. The beginning is the same for all, so that scanners of code and logs find tokens that leaked.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const SECRET_BYTES = 32
const FORM = /^noetl_([1-9]\d{0,18})_([A-Za-z0-9_-]{43})$/

export const mintSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url')

export const formatToken = (id: string, secret: string): string => `noetl_${id}_${secret}`

export interface TokenParts {
  readonly id: string
  readonly secret: string
}

/** Null when the text cannot be one of our tokens. */
export const parseToken = (text: string): TokenParts | null => {
  const [, id, secret] = FORM.exec(text) ?? []
  return id === undefined || secret === undefined ? null : { id, secret }
}

export const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()

/** In a time that does not depend on where two digests differ. */
export const sameDigest = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && timingSafeEqual(one, other)
