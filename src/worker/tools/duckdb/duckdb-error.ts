/**
 * Names what went wrong inside DuckDB, so that policy rules can decide about it.
 *
 * 1. The code is `DUCKDB_<KIND>` after the first words of the message ("Catalog Error: …").
 * 2. A file that another process holds, and a lost race between two transactions, are worth another try.
 * 3. An extension that cannot be had is `TOOL_UNAVAILABLE` with the ways to get it.
 */
import { ToolFailure } from '../../tool-failure.ts'
import { toolUnavailable } from '../tool-unavailable.ts'

const PREFIX = 'Failed to extract statements: '
const KIND = /^([A-Za-z][A-Za-z -]*?) (?:Error|exception)\b:?/i
const EXTENSION = /extension "?'?([a-z_]+)"?'?/i

const missingExtension = (message: string, cause: unknown): ToolFailure => {
  const name = EXTENSION.exec(message)?.[1] ?? 'that is needed'
  return toolUnavailable(
    `DuckDB needs its extension ${name}, which is not installed here and could not be downloaded. ` +
      `Run INSTALL ${name} once where extensions.duckdb.org can be reached, or copy the file into ~/.duckdb/extensions on the worker.`,
    cause,
  )
}

interface Class {
  readonly kind: string
  readonly code: string
  readonly retryable: boolean
}

const classOf = (message: string): Class => {
  const words = (KIND.exec(message)?.[1] ?? 'error').trim()
  const code = `DUCKDB_${words.toUpperCase().replaceAll(/[^A-Z]+/g, '_')}`
  if (/could not set lock|conflicting lock/i.test(message)) {
    return { kind: 'db_connection', code: 'DUCKDB_LOCKED', retryable: true }
  }
  if (/^constraint/i.test(words)) return { kind: 'db_constraint', code, retryable: false }
  if (/^transaction/i.test(words) && /conflict/i.test(message)) {
    return { kind: 'db_deadlock', code, retryable: true }
  }
  return { kind: 'db_error', code, retryable: false }
}

export const duckdbFailure = (thrown: unknown): ToolFailure => {
  if (thrown instanceof ToolFailure) return thrown
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  const message = (text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text).trim()
  if (/download extension|autoloading error|extension .* not found/i.test(message)) {
    return missingExtension(message, thrown)
  }
  return new ToolFailure(
    { ...classOf(message), message: `Query failed: ${message}` },
    thrown instanceof Error ? { cause: thrown } : {},
  )
}

/** What to report when the call was ended from outside: time that ran out is a timeout of the database. */
export const duckdbAbort = (reason: unknown): unknown => {
  if (!(reason instanceof ToolFailure) || reason.error.kind !== 'timeout') return reason
  return new ToolFailure({ ...reason.error, kind: 'db_timeout', code: 'DUCKDB_TIMEOUT' }, { cause: reason })
}
