/** Wake-ups inside one process. There are no others, so nothing of them is missed. */
import type { Dispatcher } from './dispatcher.ts'
import { createWaiters } from './waiters.ts'

export const createMemoryDispatcher = (): Dispatcher => {
  const waiters = createWaiters()
  let closed = false
  return {
    notify: (pool) => waiters.wake(pool),
    wait: (pool, timeoutMs, signal) => waiters.wait(pool, timeoutMs, signal),
    changed: () => undefined,
    onChange: () => () => undefined,
    hearsOthers: () => !closed,
    close: () => {
      closed = true
      waiters.wakeAll()
      return Promise.resolve()
    },
  }
}
