/** Deletes what callers did so long ago that nobody asks any more. */
import { deleteOldAudit } from '../../store/audit.ts'
import type { Core } from '../core.ts'
import type { Service } from '../service.ts'
import { createService } from '../service.ts'

const HOUR_MS = 3_600_000
const BATCH = 5000

export interface AuditKeeper extends Service {
  /** Looks once; answers how many rows it deleted. */
  runOnce(): Promise<number>
}

export const createAuditKeeper = (
  core: Pick<Core, 'shards' | 'log'>,
  { days, intervalMs = HOUR_MS }: { readonly days: number; readonly intervalMs?: number },
): AuditKeeper => {
  const runOnce = async (): Promise<number> => {
    let deleted = 0
    // In batches, so that no statement locks many rows.
    for (let count = BATCH; count === BATCH; deleted += count)
      count = await deleteOldAudit(core.shards.cluster, { days, max: BATCH })
    return deleted
  }
  return { runOnce, ...createService({ name: 'audit-keeper', intervalMs, log: core.log, run: runOnce }) }
}
