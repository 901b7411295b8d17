/**
 * Ctrl-C and termination.
 *
 * 1. The first signal asks to stop, by an AbortSignal; a second one leaves at once.
 * 2. A signal that follows within an instant is the same key press told twice: npm passes on what the terminal sends
 *    to all of its programs anyway.
 */
import { constants } from 'node:os'

export interface Interrupts {
  readonly signal: AbortSignal
  /** Back to the system's ways. */
  release(): void
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const SAME_PRESS_MS = 300

export const listenForInterrupts = (leaveAtOnce: (exitCode: number) => void): Interrupts => {
  const controller = new AbortController()
  let firstAt: number | null = null
  const onSignal = (name: (typeof SIGNALS)[number]): void => {
    if (firstAt === null) {
      firstAt = performance.now()
      controller.abort()
    } else if (performance.now() - firstAt > SAME_PRESS_MS) {
      leaveAtOnce(128 + constants.signals[name])
    }
  }
  for (const name of SIGNALS) process.on(name, onSignal)
  return {
    signal: controller.signal,
    release: () => {
      for (const name of SIGNALS) process.off(name, onSignal)
    },
  }
}

/** Waits for the work, but no longer than until the signal, whose reason is thrown then. */
export const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (!signal) return work
  const { promise, reject } = Promise.withResolvers<never>()
  const leave = (): void => reject(signal.reason as Error)
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', leave))
}

export const untilAborted = (signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(null)
    else signal.addEventListener('abort', () => resolve(null), { once: true })
  })
