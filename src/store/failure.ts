/** What a failed statement means to whoever asked for it. */
import { ProblemError } from '../contract/problem.ts'

/** SQLSTATE of PostgreSQL, or the system's word when no server answered. */
const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}

/** Classes 08 (connection), 53 (resources) and 57 (operator intervention): the server, not the statement. */
const OUTAGE_STATES = /^(?:08|53|57)\w{3}$/
const OUTAGE_WORDS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
])
/** Those that no code tells apart. */
const OUTAGE_TEXTS =
  /^(?:Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|database ".*" is not currently accepting connections)/

/** True when the database cannot be reached: the same request may succeed later. */
export const isOutage = (error: unknown): boolean => {
  const code = codeOf(error)
  if (OUTAGE_STATES.test(code) || OUTAGE_WORDS.has(code)) return true
  return error instanceof Error && OUTAGE_TEXTS.test(error.message)
}

/** True when nothing is wrong with the request itself: an outage, or a server that is too busy for it now. */
export const isUnavailable = (error: unknown): boolean =>
  isOutage(error) || (error instanceof ProblemError && error.code === 'unavailable')

const SERIALIZATION = new Set(['40001', '40P01'])

/** True when two statements stood in each other's way: this one may simply be tried again. */
export const isCollision = (error: unknown): boolean => SERIALIZATION.has(codeOf(error))

const REFUSED_CONTENT: Readonly<Record<string, string>> = {
  '22003': 'A number is out of range',
  '22008': 'An instant is out of range',
  '22021': 'Text may not contain NUL characters',
  '54001': 'The value is nested too deeply to be stored',
  '54000': 'The value is too large to be stored',
}

/** Problems a caller can act on; null for everything that is a defect. */
export const databaseProblem = (error: unknown): ProblemError | null => {
  if (isOutage(error))
    return new ProblemError('unavailable', 'The database cannot be reached; try again', { cause: error })
  const refusal = REFUSED_CONTENT[codeOf(error)]
  return refusal === undefined ? null : new ProblemError('invalid', refusal, { cause: error })
}

/** Any failure as a problem, for callers that know no others. */
export const toProblem = (error: unknown): ProblemError => {
  if (error instanceof ProblemError) return error
  return (
    databaseProblem(error) ??
    new ProblemError('internal', error instanceof Error ? error.message : String(error), { cause: error })
  )
}
