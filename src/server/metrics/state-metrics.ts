/** Numbers that have to be asked for: queue, timers, executions. Asked at most every few seconds, however often read. */
import { executionsWithoutCause } from '../../store/executions.ts'
import { readQueueState } from '../../store/queue-state.ts'
import type { Core } from '../core.ts'
import type { Metrics } from './metrics.ts'

const FRESH_MS = 5000
/** Pools are named by clients: beyond so many they are counted together. */
const MOST_POOLS = 50
const MOST_STUCK = 1000

/** Brings the gauges up to date. */
export const createStateMetrics = (core: Core, { state }: Metrics): (() => Promise<void>) => {
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | null = null

  const ask = async (): Promise<void> => {
    const [queues, stuck] = await Promise.all([
      Promise.all(core.shards.all.map(readQueueState)),
      Promise.all(core.shards.all.map((database) => executionsWithoutCause(database, MOST_STUCK))),
    ])
    state.depth.reset()
    state.age.reset()
    const known = new Set<string>()
    const oldest = new Map<string, number>()
    for (const { pool, status, count, oldestSeconds } of queues.flatMap(({ pools }) => pools)) {
      if (known.size < MOST_POOLS) known.add(pool)
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
