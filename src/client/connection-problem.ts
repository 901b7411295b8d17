/** What is wrong with a connection, in words that say what to do about it. */
import { ProblemError } from '../contract/problem.ts'
import { speaksTls } from './speaks-tls.ts'
import { IS_IT_OURS, speaksTlsProblem, WrongServer } from './wrong-server.ts'

/** For a request that got no answer. An abort by the caller's signal stays what it is. */
export const connectionProblem = async (
  url: string,
  error: unknown,
  signal: AbortSignal | undefined,
): Promise<unknown> => {
  const isLeft = (): boolean => signal?.aborted === true
  if (isLeft()) return error
  const isTls = mayBeTls(url, error) && (await speaksTls(url))
  // The caller may have left in the meantime.
  if (isLeft()) return signal?.reason
  return isTls ? speaksTlsProblem(url, error) : brokenConnection(url, error)
}

/** For an answer that broke off: who had begun to answer speaks our language. */
export const brokenAnswer = (url: string, error: unknown, signal?: AbortSignal): unknown =>
  signal?.aborted === true
    ? error
    : new ProblemError('unavailable', `The connection to ${url} broke before its answer was whole`, {
        cause: error,
      })

const brokenConnection = (url: string, error: unknown): ProblemError => {
  const message = `No answer from ${url} (${reasonOf(url, error)})`
  return isHopeless(error)
    ? new WrongServer('unavailable', message, { cause: error })
    : new ProblemError('unavailable', message, { cause: error })
}

/** Words of OpenSSL and Node for a certificate that nobody vouches for. */
const DISTRUST =
  /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)|CERT_(?:UNTRUSTED|HAS_EXPIRED|NOT_YET)|ALTNAME_INVALID/
const CLIENT_DISTRUST = /CERTIFICATE_REQUIRED|ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE)/

/** The other side hung up, or sent what is no HTTP. */
const CUT_OFF = /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE|HPE_\w+)$/
const NOT_HTTP = /^HPE_INVALID_(?:CONSTANT|VERSION)$/
const NOT_TLS = /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/
/** The same in a message, where the code is a mere EPROTO. */
const NOT_TLS_WORDS = /wrong version number|packet length too long/i
/** What fetch says of ports that it never connects to, without a code. */
const BAD_PORT = 'bad port'

/** fetch hides why behind `fetch failed`. */
const causeOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? error.cause : error

const codeBehind = (error: unknown): string | null => {
  const code = (causeOf(error) as { code?: unknown }).code
  return typeof code === 'string' ? code : null
}

const mayBeTls = (url: string, error: unknown): boolean =>
  url.startsWith('http:') && CUT_OFF.test(codeBehind(error) ?? '')

const isNotTls = (error: unknown): boolean => {
  const code = codeBehind(error)
  return (
    code !== null && (NOT_TLS.test(code) || (code === 'EPROTO' && NOT_TLS_WORDS.test(causeMessage(error))))
  )
}

const isHopeless = (error: unknown): boolean => {
  const code = codeBehind(error)
  if (code === null) return causeMessage(error) === BAD_PORT
  return DISTRUST.test(code) || CLIENT_DISTRUST.test(code) || NOT_HTTP.test(code) || isNotTls(error)
}

const reasonOf = (url: string, error: unknown): string => {
  const code = codeBehind(error)
  if (isNotTls(error)) return `it does not speak TLS; write ${url.replace(/^https:/, 'http:')}`
  if (code === null) return causeMessage(error)
  if (DISTRUST.test(code))
    return `its certificate is not trusted, ${code}; NOETL_TLS_CA names the file of the issuer's certificate`
  if (CLIENT_DISTRUST.test(code))
    return `it wants a certificate of the client, ${code}; give NOETL_TLS_CLIENT_CERT and NOETL_TLS_CLIENT_KEY`
  if (NOT_HTTP.test(code)) return `it does not speak HTTP; ${IS_IT_OURS}`
  return WORDS[code] ?? code
}

/** Codes that say little to those who do not know them. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'the name of the host could not be looked up',
  ECONNRESET: 'the connection broke',
  UND_ERR_SOCKET: 'the connection broke',
  EPIPE: 'the connection broke',
  EHOSTUNREACH: 'no way to that host',
  ENETUNREACH: 'no way to that network',
  ETIMEDOUT: 'it did not answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'it did not answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'it did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'its answer stopped midway',
}

const causeMessage = (error: unknown): string => {
  const cause = causeOf(error)
  return cause instanceof Error && cause.message !== '' ? cause.message : 'the connection broke'
}
