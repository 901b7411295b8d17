/** Asking the control plane on behalf of a tool: an outage costs time, it is no outcome of the tool. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ProblemError } from '../contract/problem.ts'
import { backoffMs } from './backoff.ts'

/** Asks again while the answer is `unavailable`; until the signal aborts, whose reason is then thrown. */
export const whenAvailable = async <T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> => {
  for (let failures = 1; ; failures += 1) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof ProblemError) || error.code !== 'unavailable') throw error
    }
    await sleep(backoffMs(failures), undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}
