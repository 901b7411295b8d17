/** Those who wait in this process, by pool. */

export interface Waiters {
  wait(pool: string, timeoutMs: number, signal: AbortSignal): Promise<void>
  wake(pool: string): void
  wakeAll(): void
}

export const createWaiters = (): Waiters => {
  const waiting = new Map<string, Set<() => void>>()

  const wake = (pool: string): void => {
    const wakes = waiting.get(pool)
    if (!wakes) return
    waiting.delete(pool)
    for (const done of wakes) done()
  }

  return {
    wake,
    wakeAll: () => {
      for (const pool of waiting.keys()) wake(pool)
    },
    wait: (pool, timeoutMs, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve()
        const wakes = waiting.get(pool) ?? new Set()
        waiting.set(pool, wakes)
        const done = (): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', done)
          wakes.delete(done)
          // Pools come and go with their names; an empty set would stay for ever.
          if (wakes.size === 0 && waiting.get(pool) === wakes) waiting.delete(pool)
          resolve()
        }
        const timer = setTimeout(done, timeoutMs)
        signal.addEventListener('abort', done)
        wakes.add(done)
        return undefined
      }),
  }
}
