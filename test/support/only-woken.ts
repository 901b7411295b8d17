/** A dispatcher whose waits do not end with their time, so that only a wake-up can: whoever looks now and then hangs. */
import type { Dispatcher } from '../../src/dispatch/dispatcher.ts'

const TOO_LONG_MS = 3_600_000

export const onlyWoken = (dispatcher: Dispatcher): Dispatcher => ({
  ...dispatcher,
  wait: (pool, _timeoutMs, signal) => dispatcher.wait(pool, TOO_LONG_MS, signal),
})
