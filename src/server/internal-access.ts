/**
 * The door to `/api/internal/*`: a bearer token of its own, compared in constant time, before the body is read. An
 * admin's token opens it, too; an anonymous caller never gets in, however open the server is.
 */
import { digestOf, sameDigest } from '../lib/access-token.ts'

export interface InternalRefusal {
  readonly status: 403 | 503
  readonly code: 'forbidden' | 'unavailable'
  readonly error: string
}

/** Why this header does not open the door; null when it does. Without a configured token nothing does. */
export const internalRefusal = (
  header: string | undefined,
  configured: string | null | undefined,
): InternalRefusal | null => {
  const expected = configured?.trim() ?? ''
  if (expected === '')
    return {
      status: 503,
      code: 'unavailable',
      error: 'Internal API not configured: NOETL_INTERNAL_API_TOKEN env var unset on the server.',
    }
  const error = headerProblem(header, expected)
  return error === null ? null : { status: 403, code: 'forbidden', error }
}

const headerProblem = (header: string | undefined, expected: string): string | null => {
  if (header === undefined) return 'Internal API requires Authorization header with Bearer token.'
  // oxlint-disable-next-line no-control-regex -- this is what is looked for
  if (/[^\u0000-\u007f]/.test(header)) return 'Internal API Authorization header is not valid ASCII.'
  const space = header.indexOf(' ')
  const scheme = space === -1 ? header : header.slice(0, space)
  const given = space === -1 ? '' : header.slice(space + 1).trim()
  if (scheme.toLowerCase() !== 'bearer' || given === '')
    return "Internal API requires 'Bearer <token>' Authorization scheme."
  return sameDigest(digestOf(given), digestOf(expected))
    ? null
    : 'Invalid service-account token for /api/internal/*.'
}
