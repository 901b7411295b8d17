/**
 * Names what went wrong with a request, so that policy rules can decide about it.
 *
 * 1. An answer outside 200-299 is an error by its status. Worth another try: 408, 425, 429 and everything from 500 on.
 * 2. No answer at all is a matter of the connection or of time, and always worth another try.
 */
import type { ToolError } from '../../../contract/command.ts'
import { ToolFailure } from '../../tool-failure.ts'

const RETRYABLE: ReadonlySet<number> = new Set([408, 425, 429])

const kindOf = (status: number): string => {
  if (status === 429) return 'rate_limit'
  if (status === 401 || status === 403) return 'auth'
  if (status === 404) return 'not_found'
  if (status >= 500) return 'server_error'
  return status >= 400 ? 'client_error' : 'redirect'
}

/** Seconds to wait by a Retry-After header: a number of seconds, or a date. */
const retryAfterSeconds = (header: string | undefined, nowMs: number): number | null => {
  if (header === undefined) return null
  const text = header.trim()
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text)
  const at = /[a-z]/i.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - nowMs) / 1000))
}

export const statusError = (
  status: number,
  retryAfter: string | undefined,
  where: string,
  nowMs: number,
): ToolError => {
  const wait = retryAfterSeconds(retryAfter, nowMs)
  return {
    kind: kindOf(status),
    code: `HTTP_${status}`,
    message: `HTTP ${status} response to ${where}`,
    retryable: RETRYABLE.has(status) || status >= 500,
    http_status: status,
    ...(wait === null ? {} : { retry_after: wait }),
  }
}

const DNS: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'ENODATA'])
const TIME: ReadonlySet<string> = new Set(['ETIMEDOUT', 'ESOCKETTIMEDOUT', 'ERR_SOCKET_CONNECTION_TIMEOUT'])
/** Codes of certificate problems, as OpenSSL and Node name them. */
const TLS = /CERT|^ERR_TLS_|^ERR_SSL_|^EPROTO$|SIGNATURE|^HOSTNAME_MISMATCH$|^INVALID_CA$/
const transportCode = (code: string): string => {
  if (code === 'ECONNREFUSED') return 'CONN_REFUSED'
  if (DNS.has(code)) return 'DNS_ERROR'
  if (TIME.has(code)) return 'CONN_TIMEOUT'
  return TLS.test(code) ? 'TLS_ERROR' : 'CONN_ERROR'
}

/** The code of an error; of several attempts to connect, the code they share or the first. */
export const errorCode = (error: Error): string => {
  const { code } = error as NodeJS.ErrnoException
  if (typeof code === 'string') return code
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error.cause
  return inner instanceof Error ? errorCode(inner) : ''
}

const messageOf = (error: Error): string =>
  error.message !== '' || !(error instanceof AggregateError)
    ? error.message
    : error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join('; ')

export const transportFailure = (thrown: unknown, where: string): ToolFailure => {
  if (thrown instanceof ToolFailure) return thrown
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const code = errorCode(error)
  const word = transportCode(code)
  return new ToolFailure(
    {
      kind: word === 'CONN_TIMEOUT' ? 'timeout' : 'connection',
      code: word,
      message: `${where} failed: ${messageOf(error)}`,
      retryable: true,
      exception: code === '' ? error.name : code,
    },
    { cause: error },
  )
}

export const tooLarge = (where: string, maxBytes: number): ToolFailure =>
  new ToolFailure({
    kind: 'result_too_large',
    code: 'RESULT_TOO_LARGE',
    message: `The response to ${where} is larger than ${maxBytes} bytes`,
    retryable: false,
  })
