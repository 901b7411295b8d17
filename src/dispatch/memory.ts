/** Wake-ups inside one process. */
import type { Dispatcher } from './dispatcher.ts'

export const createMemoryDispatcher = (): Dispatcher => {
  const waiting = new Map<string, Set<() => void>>()
  return {
    notify: (pool) => {
      const wakes = waiting.get(pool)
      if (!wakes) return
      waiting.delete(pool)
      for (const wake of wakes) wake()
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
          resolve()
        }
        const timer = setTimeout(done, timeoutMs)
        signal.addEventListener('abort', done)
        wakes.add(done)
        return undefined
      }),
    close: () => {
      for (const wakes of waiting.values()) for (const wake of wakes) wake()
      waiting.clear()
      return Promise.resolve()
    },
  }
}
