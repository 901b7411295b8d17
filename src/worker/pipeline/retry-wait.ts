/**
 * How long to wait before a task runs again, and the waiting itself.
 *
 * 1. After n runs: `none` 0, `linear` delay·n, `exponential` delay·2^(n-1), anything else the delay; at most 300 s.
 * 2. When the other side asked for more (`retry_after`), that is waited, up to an hour.
 * 3. To that up to a fifth is added by chance, never taken away: many who failed together do not come back together, and
 *    nobody comes back sooner than was said.
 * 4. Waiting ends early when the signal aborts.
 */
import type { ToolError } from '../../contract/command.ts'
import type { Clock } from '../clock.ts'

const MOST_MS = 300_000
const MOST_ASKED_MS = 3_600_000
const JITTER = 0.2

export interface Retry {
  readonly backoff: string
  readonly delayMs: number
  /** Counted from 1. */
  readonly runs: number
  readonly error: ToolError | null
  /** From 0 up to but not including 1. */
  readonly random: () => number
}

const backoffMs = ({ backoff, delayMs, runs }: Retry): number => {
  if (backoff === 'none') return 0
  const factor = backoff === 'linear' ? runs : backoff === 'exponential' ? 2 ** (runs - 1) : 1
  return Math.min(MOST_MS, delayMs * factor)
}

const askedMs = (error: ToolError | null): number =>
  Math.min(MOST_ASKED_MS, Math.max(0, (error?.retry_after ?? 0) * 1000))

export const retryWaitMs = (retry: Retry): number => {
  const least = Math.max(backoffMs(retry), askedMs(retry.error))
  return least === 0 ? 0 : Math.round(least * (1 + JITTER * retry.random()))
}

export const waitUnlessAborted = (clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) {
      resolve()
      return
    }
    const finish = (): void => {
      cancel()
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const cancel = clock.after(delayMs, finish)
    signal.addEventListener('abort', finish, { once: true })
  })
