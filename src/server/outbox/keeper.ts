/** Deletes messages some time after they were published. */
import { deletePublished } from '../../store/outbox.ts'
import { onEvery } from '../../store/shards.ts'
import type { Core } from '../core.ts'
import type { Service } from '../service.ts'
import { createService } from '../service.ts'

const MINUTE_MS = 60_000
const RETENTION_SECONDS = 3600
const BATCH = 5000

export interface OutboxKeeper extends Service {
  /** Looks once; answers how many rows it deleted. */
  runOnce(): Promise<number>
}

export const createOutboxKeeper = (
  core: Core,
  {
    intervalMs = MINUTE_MS,
    retentionSeconds = RETENTION_SECONDS,
  }: { intervalMs?: number; retentionSeconds?: number } = {},
): OutboxKeeper => {
  const runOnce = (): Promise<number> =>
    onEvery(core.shards, async (database) => {
      for (let total = 0; ;) {
        const count = await deletePublished(database, { olderThanSeconds: retentionSeconds, max: BATCH })
        total += count
        if (count < BATCH) return total
      }
    })
  return { runOnce, ...createService({ name: 'outbox-keeper', intervalMs, log: core.log, run: runOnce }) }
}
