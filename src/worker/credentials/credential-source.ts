/**
 * Credentials by name, as the control plane knows them. One for the whole worker.
 *
 * 1. A credential is kept for half a minute, so that a loop does not ask for it with every iteration; then it is
 *    dropped, also when nobody asks again. At most 200 are kept.
 * 2. Who asks for what is already being asked for waits for the same answer. A name that is not known is asked for anew
 *    each time.
 * 3. An answer that fails to come is asked for three times, then the failure is worth another try. A refusal is final.
 */
import type { ControlPlane, Credential } from '../../contract/command.ts'
import { ProblemError } from '../../contract/problem.ts'
import { backoffMs } from '../backoff.ts'
import type { Clock } from '../clock.ts'
import { ToolFailure } from '../tool-failure.ts'

export interface CredentialSource {
  /** Null when there is no credential of this name. Rejects with a ToolFailure, or with the reason of the abort. */
  find(executionId: string, alias: string, signal: AbortSignal): Promise<Credential | null>
  /** Asks anew next time: it may have been changed. */
  forget(executionId: string, alias: string): void
  /** Drops everything. */
  clear(): void
}

export interface CredentialSourceOptions {
  readonly controlPlane: Pick<ControlPlane, 'credential'>
  readonly clock: Clock
}

const KEEP_MS = 30_000
const MOST_KEPT = 200
const TRIES = 3
const TRY_MS = 10_000

interface Kept {
  readonly credential: Credential
  readonly until: number
}

export const createCredentialSource = ({
  controlPlane,
  clock,
}: CredentialSourceOptions): CredentialSource => {
  const kept = new Map<string, Kept>()
  const asked = new Map<string, Promise<Credential | null>>()
  let cancelSweep: (() => void) | null = null

  const askOnce = (executionId: string, alias: string): Promise<Credential | null> =>
    new Promise((resolve, reject) => {
      const controller = new AbortController()
      const cancel = clock.after(TRY_MS, () => {
        reject(new Error(`no answer within ${TRY_MS / 1000} seconds`))
        controller.abort()
      })
      controlPlane
        .credential({ executionId, alias, signal: controller.signal })
        .then(resolve, reject)
        .finally(cancel)
    })

  const ask = async (executionId: string, alias: string): Promise<Credential | null> => {
    for (let failures = 1; ; failures += 1) {
      try {
        return await askOnce(executionId, alias)
      } catch (error) {
        if (isRefusal(error)) throw refused(alias, error)
        if (failures >= TRIES) throw unavailable(alias, error)
        await new Promise<void>((resolve) => void clock.after(backoffMs(failures), resolve))
      }
    }
  }

  /** Everything is kept equally long, so the order of the map is the order in which it expires. */
  const sweep = (): void => {
    cancelSweep = null
    const now = clock.elapsed()
    for (const [key, { until }] of kept) {
      if (until > now) {
        cancelSweep = clock.after(until - now, sweep)
        return
      }
      kept.delete(key)
    }
  }

  const keep = (key: string, credential: Credential): void => {
    kept.delete(key)
    kept.set(key, { credential, until: clock.elapsed() + KEEP_MS })
    const [oldest] = kept.keys()
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
    cancelSweep ??= clock.after(KEEP_MS, sweep)
  }

  const askShared = (key: string, executionId: string, alias: string): Promise<Credential | null> => {
    const known = asked.get(key)
    if (known !== undefined) return known
    const asking = ask(executionId, alias)
    asked.set(key, asking)
    const over = (): boolean => asked.get(key) === asking && asked.delete(key)
    asking.then(
      // What was forgotten while it was on its way may be the old one.
      (credential) => over() && credential !== null && keep(key, credential),
      over,
    )
    return asking
  }

  return {
    async find(executionId, alias, signal) {
      signal.throwIfAborted()
      const key = keyOf(executionId, alias)
      const known = kept.get(key)
      if (known !== undefined && known.until > clock.elapsed()) return known.credential
      return unlessAborted(askShared(key, executionId, alias), signal)
    },
    forget(executionId, alias) {
      kept.delete(keyOf(executionId, alias))
      asked.delete(keyOf(executionId, alias))
    },
    clear() {
      kept.clear()
      asked.clear()
      cancelSweep?.()
      cancelSweep = null
    },
  }
}

/** What a name means depends on the execution: its playbook may have a keychain. */
const keyOf = (executionId: string, alias: string): string => `${executionId}/${alias}`

const unlessAborted = <Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })

/** The control plane answered, and would answer the same again. */
const isRefusal = (error: unknown): error is ProblemError =>
  error instanceof ProblemError && error.code !== 'unavailable' && error.code !== 'internal'

const refused = (alias: string, problem: ProblemError): ToolFailure =>
  new ToolFailure(
    {
      kind: 'auth',
      code: 'CREDENTIAL_REFUSED',
      message: `The credential '${alias}' was refused: ${problem.message}`,
      retryable: false,
    },
    { cause: problem },
  )

const unavailable = (alias: string, error: unknown): ToolFailure =>
  new ToolFailure(
    {
      kind: 'connection',
      code: 'CREDENTIAL_UNAVAILABLE',
      message: `The credential '${alias}' could not be fetched: ${error instanceof Error ? error.message : String(error)}`,
      retryable: true,
    },
    { cause: error },
  )
