/**
 * Ends leases that ran out. The reaper takes such a lease over with a token of its own, which fences the lost
 * holder off, and then tells the execution; the engine decides whether the command waits again or has failed.
 *
 * 1. A reaper that is held up, for longer than its own lease, ends no lease that was given meanwhile.
 */
import { takeExpired } from '../store/commands.ts'
import type { Database } from '../store/database.ts'
import { onEvery } from '../store/shards.ts'
import type { Core } from './core.ts'
import type { Service } from './service.ts'
import { createService } from './service.ts'

const BATCH = 200
const OWN_LEASE_SECONDS = 30

export interface Reaper extends Service {
  /** Looks once; answers how many leases it ended. */
  runOnce(): Promise<number>
}

export const createReaper = (core: Core, { intervalMs = 1000 }: { intervalMs?: number } = {}): Reaper => {
  const reaperId = `reaper-${core.nextId()}`
  const reap = async (database: Database): Promise<number> => {
    for (let ended = 0; ;) {
      const rows = await takeExpired(database, { reaperId, max: BATCH, leaseSeconds: OWN_LEASE_SECONDS })
      await Promise.all(
        rows.map((row) =>
          core.tell(row.execution_id, {
            type: 'release',
            commandId: row.command_id,
            leaseToken: null,
            before: row.lease_token,
            reason: 'lease_expired',
          }),
        ),
      )
      ended += rows.length
      if (rows.length > 0) {
        core.instruments.leasesExpired(rows.length)
        core.log.warn({ count: rows.length }, 'leases expired')
      }
      if (rows.length < BATCH) return ended
    }
  }
  const runOnce = (): Promise<number> => onEvery(core.shards, reap)
  return { runOnce, ...createService({ name: 'reaper', intervalMs, log: core.log, run: runOnce }) }
}
