/**
 * The first contact of a worker with its server, which may not be there yet.
 *
 * 1. A server that is away is asked again, with growing pauses, until it answers, the limit has passed, or the signal
 *    aborts, which is heard at once.
 * 2. What time will not heal is thrown at once: a stranger that answers, a connection that is not trusted, a refusal.
 * 3. `onAway` is called once, with the first reason.
 */
import { WrongServer } from '../client/wrong-server.ts'
import type { ProblemCode } from '../contract/problem.ts'
import { ProblemError } from '../contract/problem.ts'
import { backoffMs } from './backoff.ts'
import type { Clock } from './clock.ts'

/** A host that swallows what is sent to it is away, too. */
const TRY_MS = 10_000
/** Every try gets a chance, however short the limit is. */
const SHORTEST_TRY_MS = 2_000

export interface FirstContactOptions<T> {
  readonly url: string
  readonly meet: (signal: AbortSignal) => Promise<T>
  /** How long a server that is away is waited for; null for without end. */
  readonly limitMs: number | null
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onAway: (problem: ProblemError) => void
}

/** What `meet` answers; null when the signal aborted. Past the limit the newest reason is thrown. */
export const firstContact = async <T>(options: FirstContactOptions<T>): Promise<T | null> => {
  const { url, limitMs, clock, signal, onAway } = options
  const deadline = limitMs === null ? Infinity : clock.elapsed() + limitMs
  const leftMs = (): number => Math.max(0, deadline - clock.elapsed())
  for (let failures = 1; !signal.aborted; failures += 1) {
    const tryMs = Math.min(TRY_MS, Math.max(SHORTEST_TRY_MS, leftMs()))
    const tooLong = new AbortController()
    const cancel = clock.after(tryMs, () => tooLong.abort())
    try {
      return await options.meet(AbortSignal.any([signal, tooLong.signal]))
    } catch (error) {
      if (signal.aborted) return null
      const problem = tooLong.signal.aborted ? silence(url, tryMs) : passing(error)
      if (leftMs() === 0) throw problem
      if (failures === 1) onAway(problem)
    } finally {
      cancel()
    }
    await pause(clock, Math.min(backoffMs(failures), leftMs()), signal)
  }
  return null
}

const pause = (clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(delayMs, end)
    signal.addEventListener('abort', end)
  })

const silence = (url: string, tryMs: number): ProblemError =>
  new ProblemError('unavailable', `No answer from ${url} (none within ${Math.round(tryMs / 1000)} s)`)

const PASSING: ReadonlySet<ProblemCode> = new Set(['unavailable', 'internal', 'too_many_requests'])

/** Throws what does not pass. */
const passing = (error: unknown): ProblemError => {
  if (error instanceof ProblemError && !(error instanceof WrongServer) && PASSING.has(error.code))
    return error
  throw error
}
