/**
 * Stands beside the executions of held commands, so that whoever holds them hears of a cancel when it happens.
 *
 * 1. It listens from the moment it is made: an end that comes before anybody waits is not missed.
 * 2. Only executions that are said to have changed are looked at, however often that is said not more than once per
 *    `LOOK_GAP_MS`.
 * 3. It is a hint: without it, or when servers do not hear each other, the next heartbeat tells.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createBell } from '../lib/bell.ts'
import { readExecution } from '../store/executions.ts'
import { changesOf } from './changes.ts'
import type { Core } from './core.ts'

/** A busy execution changes all the time; its end may be noticed this much later. */
const LOOK_GAP_MS = 300

export interface LeaseWatch {
  /** True when one of the executions ended; false when the time is over or nobody waits any more. */
  untilEnd(waitMs: number, signal: AbortSignal): Promise<boolean>
  close(): void
}

export const watchExecutions = (core: Core, executionIds: ReadonlySet<string>): LeaseWatch => {
  const changes = changesOf(core)
  const bell = createBell()
  const changed = new Set<string>()
  const unwatch = [...executionIds].map((id) =>
    changes.watch(id, () => {
      changed.add(id)
      bell.ring()
    }),
  )

  const oneEnded = async (): Promise<boolean> => {
    const ids = [...changed]
    changed.clear()
    const rows = await Promise.all(ids.map((id) => readExecution(core.shards.of(id), id)))
    return rows.some((row) => row?.status !== 'RUNNING')
  }

  const untilEnd = async (waitMs: number, signal: AbortSignal): Promise<boolean> => {
    const deadline = performance.now() + waitMs
    signal.addEventListener('abort', bell.ring)
    try {
      for (;;) {
        const left = deadline - performance.now()
        if (left <= 0 || signal.aborted) return false
        if (changed.size === 0) await bell.next(left)
        else if (await oneEnded()) return true
        else await sleep(Math.min(LOOK_GAP_MS, left), undefined, { signal }).catch(() => undefined)
      }
    } finally {
      signal.removeEventListener('abort', bell.ring)
    }
  }

  return {
    untilEnd,
    close: () => {
      for (const stop of unwatch) stop()
      bell.ring()
    },
  }
}
