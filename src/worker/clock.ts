/** Time as the worker sees it; tests put their own in its place. */
export interface Clock {
  /** Milliseconds since 1970, for what people read. */
  now(): number
  /** Milliseconds that never run backwards, for durations. */
  elapsed(): number
  /** Calls back once after `delayMs`; the answer cancels it. */
  after(delayMs: number, callback: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}

/** Resolves when the work is settled or the limit has passed, whichever is first. */
export const within = (clock: Clock, limitMs: number, work: Promise<unknown>): Promise<void> =>
  new Promise((resolve) => {
    const cancel = clock.after(limitMs, resolve)
    const settle = (): void => {
      cancel()
      resolve()
    }
    work.then(settle, settle)
  })
