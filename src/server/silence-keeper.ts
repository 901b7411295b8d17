/**
 * Ends the leases of workers that fell silent. Workers that send heartbeats for themselves and not for their commands
 * hold long leases; these live as long as their worker, and no longer: the reaper then gives the commands to others.
 */
import { endLongLeases } from '../store/commands.ts'
import { silentWorkers } from '../store/runtimes.ts'
import type { Core } from './core.ts'
import type { Service } from './service.ts'
import { createService } from './service.ts'

const INTERVAL_MS = 15_000
const MOST_WORKERS = 1000

export interface SilenceKeeper extends Service {
  /** Looks once; answers how many leases it ended. */
  runOnce(): Promise<number>
}

export const createSilenceKeeper = (core: Core): SilenceKeeper => {
  const { shards, log } = core
  const runOnce = async (): Promise<number> => {
    const silent = await silentWorkers(shards.cluster, MOST_WORKERS)
    if (silent.length === 0) return 0
    const counts = await Promise.all(shards.all.map((database) => endLongLeases(database, silent)))
    const ended = counts.reduce((sum, count) => sum + count, 0)
    if (ended > 0) log.warn({ workers: silent.length, leases: ended }, 'workers are silent, their leases end')
    return ended
  }
  return { runOnce, ...createService({ name: 'silence-keeper', intervalMs: INTERVAL_MS, log, run: runOnce }) }
}
