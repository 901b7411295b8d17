/**
 * Numbers that have to be asked for: queue, timers, executions. Asked at most every few seconds, however often read.
 *
 * 1. A queue that is empty has the length 0, not none: alerts on a missing number cannot tell idle from broken. That goes for
 *    the pool that everybody has, and for those that were seen.
 */
import { executionsWithoutCause } from '../../store/executions.ts'
import { readQueueState } from '../../store/queue-state.ts'
import type { Core } from '../core.ts'
import type { Metrics } from './metrics.ts'

const FRESH_MS = 5000
/** Pools are named by clients: beyond so many they are counted together. */
const MOST_POOLS = 50
const MOST_STUCK = 1000
const COMMON_POOL = 'shared'
const OPEN_STATUSES = ['PENDING', 'CLAIMED', 'PARKED'] as const

/** Brings the gauges up to date. */
export const createStateMetrics = (core: Core, { state }: Metrics): (() => Promise<void>) => {
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | null = null
  let known: ReadonlySet<string> = new Set()

  const ask = async (): Promise<void> => {
    const [queues, stuck] = await Promise.all([
      Promise.all(core.shards.all.map(readQueueState)),
      Promise.all(core.shards.all.map((database) => executionsWithoutCause(database, MOST_STUCK))),
    ])
    const rows = queues.flatMap(({ pools }) => pools)
    // Those with work come first: of the others, which are only remembered, some may be forgotten.
    known = new Set(
      [...new Set([COMMON_POOL, ...rows.map(({ pool }) => pool), ...known])].slice(0, MOST_POOLS),
    )
    state.depth.reset()
    state.age.reset()
    for (const pool of known) for (const status of OPEN_STATUSES) state.depth.set({ pool, status }, 0)
    const oldest = new Map([...known].map((pool) => [pool, 0]))
    for (const { pool, status, count, oldestSeconds } of rows) {
      const label = known.has(pool) ? pool : 'other'
      state.depth.inc({ pool: label, status }, count)
      if (status === 'PENDING') oldest.set(label, Math.max(oldest.get(label) ?? 0, oldestSeconds))
    }
    for (const [pool, seconds] of oldest) state.age.set({ pool }, seconds)
    const sum = (pick: (queue: (typeof queues)[number]) => number): number =>
      queues.reduce((total, queue) => total + pick(queue), 0)
    state.running.set(sum(({ running }) => running))
    state.timers.set(sum(({ timers }) => timers))
    state.outbox.set(sum(({ outbox }) => outbox))
    state.stuck.set(stuck.flat().length)
  }

  return async () => {
    state.cached.set(core.cached())
    state.cachedBytes.set(core.cachedBytes())
    const pools = core.shards.all
    state.connections.set(
      { state: 'idle' },
      pools.reduce((sum, { idleCount }) => sum + idleCount, 0),
    )
    state.connections.set(
      { state: 'used' },
      pools.reduce((sum, { totalCount, idleCount }) => sum + totalCount - idleCount, 0),
    )
    state.connections.set(
      { state: 'waiting' },
      pools.reduce((sum, { waitingCount }) => sum + waitingCount, 0),
    )
    if (performance.now() - askedAt < FRESH_MS) return
    asking ??= ask().finally(() => {
      asking = null
      askedAt = performance.now()
    })
    await asking
  }
}
