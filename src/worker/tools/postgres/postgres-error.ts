/**
 * Names what went wrong with a statement or a connection, so that policy rules can decide about it.
 *
 * 1. An error of the server is classified by its SQLSTATE and carries it; its code is `PG_<sqlstate>`.
 * 2. A server that is not reached, or lost, is a `db_connection` error and worth another try.
 */
import type { ToolError } from '../../../contract/command.ts'
import { ToolFailure } from '../../tool-failure.ts'

interface Class {
  readonly kind: string
  readonly retryable: boolean
}

const CLASSES: readonly (readonly [RegExp, Class])[] = [
  [/^40(?:001|P01)$/, { kind: 'db_deadlock', retryable: true }],
  [/^23/, { kind: 'db_constraint', retryable: false }],
  [/^(?:57014|55P03|25P03|25P04)$/, { kind: 'db_timeout', retryable: true }],
  // Connections lost or refused, servers that stop or start, and those that are full.
  [/^(?:08|57P0|53)/, { kind: 'db_connection', retryable: true }],
  [/^28/, { kind: 'auth', retryable: false }],
]

const UNKNOWN: Class = { kind: 'db_error', retryable: false }

/** The fields of an error message of the server. */
interface ServerError {
  readonly message: string
  readonly code: string
  readonly severity?: string
  readonly detail?: string
  readonly hint?: string
  readonly position?: string
}

const SQLSTATE = /^[0-9A-Z]{5}$/

const isServerError = (error: Error): error is Error & ServerError => {
  const { code, severity } = error as Partial<ServerError>
  return typeof code === 'string' && SQLSTATE.test(code) && typeof severity === 'string'
}

const placeOf = (position: string | undefined, text: string | null): string | null => {
  if (position === undefined || text === null) return null
  const before = Array.from(text)
    .slice(0, Number(position) - 1)
    .join('')
    .split('\n')
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`
}

const serverError = (error: ServerError, text: string | null): ToolError => {
  const { code, severity = 'ERROR', message, detail, hint, position } = error
  const { kind, retryable } = CLASSES.find(([pattern]) => pattern.test(code))?.[1] ?? UNKNOWN
  const place = placeOf(position, text)
  const parts = [
    `${text === null ? 'Connection' : 'Query'} failed: ${severity}: ${message} (SQLSTATE ${code})`,
    ...(detail === undefined ? [] : [`DETAIL: ${detail}`]),
    ...(hint === undefined ? [] : [`HINT: ${hint}`]),
    ...(place === null ? [] : [`AT: ${place}`]),
  ]
  return { kind, code: `PG_${code}`, message: parts.join(' | '), retryable, sqlstate: code }
}

/** What the driver says when it has nothing to answer the server with. */
const NO_PASSWORD = /client password must be a/

const connectionCode = (error: Error): string => {
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error
  const { code, message } = inner as NodeJS.ErrnoException
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return 'CONN_REFUSED'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'DNS_ERROR'
  return code === 'ETIMEDOUT' || /timeout/i.test(message) ? 'CONN_TIMEOUT' : 'CONN_ERROR'
}

/** `text` is the statement that failed; null when there was none yet. */
export const databaseFailure = (thrown: unknown, text: string | null): ToolFailure => {
  if (thrown instanceof ToolFailure) return thrown
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  if (isServerError(error)) return new ToolFailure(serverError(error, text), { cause: error })
  if (NO_PASSWORD.test(error.message)) {
    const message = 'The server asks for a password, and the tool has none'
    return new ToolFailure(
      { kind: 'auth', code: 'CREDENTIAL_INCOMPLETE', message, retryable: false },
      { cause: error },
    )
  }
  const reason =
    error instanceof AggregateError && error.message === ''
      ? error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join('; ')
      : error.message
  return new ToolFailure(
    {
      kind: 'db_connection',
      code: connectionCode(error),
      message: `${text === null ? 'Cannot connect to PostgreSQL' : 'The connection to PostgreSQL was lost'}: ${reason}`,
      retryable: true,
    },
    { cause: error },
  )
}

/** What to report when the call was ended from outside: time that ran out is a timeout of the database. */
export const abortFailure = (reason: unknown): unknown => {
  if (!(reason instanceof ToolFailure) || reason.error.kind !== 'timeout') return reason
  return new ToolFailure(
    { ...reason.error, kind: 'db_timeout', code: 'PG_57014', sqlstate: '57014' },
    { cause: reason },
  )
}

export const resultTooLarge = (maxBytes: number): ToolFailure =>
  new ToolFailure({
    kind: 'result_too_large',
    code: 'RESULT_TOO_LARGE',
    message: `The rows of the result take more than ${maxBytes} bytes: select less, or page with LIMIT`,
    retryable: false,
  })
