/** Something to wait for that others ring. Whoever listens first and looks then misses nothing. */
export interface Bell {
  ring(): void
  /** Resolves when it rings or the time is over. Ends the wait before. */
  next(timeoutMs: number): Promise<void>
}

export const createBell = (): Bell => {
  let wake: () => void = () => undefined
  return {
    ring: () => wake(),
    next: (timeoutMs) => {
      wake()
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, timeoutMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
  }
}
