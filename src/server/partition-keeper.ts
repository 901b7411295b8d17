/** Sees to it that next months' partitions of the log exist before they are needed. */
import { ensurePartitions } from '../store/partitions.ts'
import type { Core } from './core.ts'
import type { Service } from './service.ts'
import { createService } from './service.ts'

const SIX_HOURS_MS = 6 * 3600 * 1000

export const createPartitionKeeper = (core: Core): Service =>
  createService({
    name: 'partition-keeper',
    intervalMs: SIX_HOURS_MS,
    log: core.log,
    run: () => Promise.all(core.shards.all.map((database) => ensurePartitions(database, new Date()))),
  })
