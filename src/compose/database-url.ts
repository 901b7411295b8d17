/**
 * Addresses of databases, as the user wrote them and as they may be shown.
 *
 * 1. What is not an address of PostgreSQL is refused before anybody tries to reach it.
 * 2. No message holds a password, nor any part of a text that could not be understood.
 */
import { ProblemError } from '../contract/problem.ts'

const DEFAULT_PORT = '5432'
const EXAMPLE = 'postgres://user:password@host:5432/database'

/** Nobody was there, or nobody is known by this name. */
const NO_ANSWER = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
])
/** What the driver says when its own patience is over; it gives no code. */
const OUT_OF_PATIENCE = /timeout expired|connection timeout/i

export const refuseForeignAddresses = (urls: readonly string[]): void => {
  if (urls.every(isPostgresAddress)) return
  throw new ProblemError(
    'invalid',
    `NOETL_DATABASE_URL (or NOETL_SHARDS) is not the address of a PostgreSQL database, which looks like ${EXAMPLE}`,
  )
}

/** Also the forms for a socket: `socket:/path?db=name` and `/path name`. */
const isPostgresAddress = (text: string): boolean =>
  /^(?:socket:|\/)/.test(text) || (/^postgres(?:ql)?:\/\//.test(text) && parse(text) !== null)

/** The host may be left out even where a user is given; a URL by the book has one then. */
const parse = (text: string): URL | null => {
  for (const candidate of [text, text.replace('@/', '@localhost/')])
    if (URL.canParse(candidate)) return new URL(candidate)
  return null
}

/** The user chose the database, so what is wrong with it is an expected problem. */
export const databaseProblem = (text: string, error: unknown): ProblemError => {
  if (error instanceof ProblemError) return error
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
  const reason = errors.map(messageOf).join(', ')
  const place = placeOf(text)
  const isSilent = place !== null && errors.some(isNoAnswer) && !reason.includes(place)
  return new ProblemError(
    'unavailable',
    `The database ${shown(text)} cannot be used: ${isSilent ? `no PostgreSQL answers at ${place} (${reason})` : reason}`,
    { cause: error },
  )
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const isNoAnswer = (error: unknown): boolean =>
  error instanceof Error &&
  (NO_ANSWER.has((error as NodeJS.ErrnoException).code ?? '') || OUT_OF_PATIENCE.test(error.message))

/** Host and port; null for a socket. */
const placeOf = (text: string): string | null => {
  const url = parse(text)
  const host = url?.searchParams.get('host') ?? url?.hostname ?? ''
  if (!url || host.startsWith('/') || host.startsWith('%2F')) return null
  return `${host === '' ? 'localhost' : host}:${url.searchParams.get('port') ?? (url.port || DEFAULT_PORT)}`
}

const shown = (text: string): string => {
  const url = /^postgres(?:ql)?:/.test(text) ? parse(text) : null
  if (!url) return 'of NOETL_DATABASE_URL'
  url.password = ''
  url.searchParams.delete('password')
  return url.href
}
