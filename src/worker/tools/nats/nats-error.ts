/**
 * Names what went wrong with NATS, so that policy rules can decide about it. Errors are told apart by their names: the
 * classes belong to packages that may not be there.
 */
import { errorCode, transportFailure } from '../http/http-error.ts'
import { ToolFailure } from '../../tool-failure.ts'

interface Verdict {
  readonly kind: string
  readonly code: string
  readonly retryable: boolean
}

const verdict = (kind: string, code: string, retryable: boolean): Verdict => ({ kind, code, retryable })

const BY_NAME: Readonly<Record<string, Verdict>> = {
  AuthorizationError: verdict('auth', 'NATS_AUTH', false),
  UserAuthenticationExpiredError: verdict('auth', 'NATS_AUTH', false),
  PermissionViolationError: verdict('auth', 'NATS_PERMISSION', false),
  TimeoutError: verdict('timeout', 'NATS_TIMEOUT', true),
  NoResponders: verdict('connection', 'NATS_NO_RESPONDERS', true),
  JetStreamNotEnabled: verdict('config', 'NATS_NO_JETSTREAM', false),
  StreamNotFoundError: verdict('not_found', 'NATS_STREAM_NOT_FOUND', false),
  ConsumerNotFoundError: verdict('not_found', 'NATS_CONSUMER_NOT_FOUND', false),
  InvalidNameError: verdict('config', 'CONFIG', false),
  InvalidArgumentError: verdict('config', 'CONFIG', false),
  InvalidSubjectError: verdict('config', 'CONFIG', false),
  ClosedConnectionError: verdict('connection', 'CONN_ERROR', true),
  DrainingConnectionError: verdict('connection', 'CONN_ERROR', true),
}

/** Numbers of the JetStream API: somebody else wrote the key or the stream meanwhile. */
const WRONG_SEQUENCE: ReadonlySet<number> = new Set([10_071, 10_164])

const ofApi = (error: Error & { code?: unknown; status?: unknown }): Verdict | null => {
  const { code, status } = error
  if (typeof code !== 'number' || typeof status !== 'number') return null
  if (WRONG_SEQUENCE.has(code)) return verdict('client_error', 'NATS_WRONG_REVISION', false)
  if (status === 404) return verdict('not_found', `NATS_${code}`, false)
  return status >= 500
    ? verdict('server_error', `NATS_${code}`, true)
    : verdict('client_error', `NATS_${code}`, false)
}

/** The nearest error of the chain that says what it is: a timeout of a request may hide that nobody answers. */
const verdictOf = (error: Error): Verdict | null => {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    const found = BY_NAME[each.name] ?? ofApi(each)
    if (found !== null && found !== undefined) return found
  }
  return null
}

export const natsFailure = (thrown: unknown, where: string): ToolFailure => {
  if (thrown instanceof ToolFailure) return thrown
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const known = verdictOf(error)
  if (known !== null) {
    const message = `${where} failed: ${error.message === '' ? error.name : error.message}`
    return new ToolFailure({ ...known, message, exception: error.name }, { cause: error })
  }
  if (error.name === 'ConnectionError' || errorCode(error) !== '') return transportFailure(error, where)
  return new ToolFailure(
    {
      kind: 'client_error',
      code: 'NATS_ERROR',
      message: `${where} failed: ${error.message}`,
      retryable: false,
      exception: error.name,
    },
    { cause: error },
  )
}
