/**
 * Deletes what has run out: results at their hour, keychain entries some days after, when nobody will renew them, the
 * output of tools when nobody will read it any more, keys of batches when nobody will send them again,
 * keys of starts when their windows are over.
 */
import { deleteExpiredDedupKeys } from '../store/dedup.ts'
import { deleteOldBatches } from '../store/event-batches.ts'
import { deleteExpiredKeychain } from '../store/keychain.ts'
import { deleteExpiredResults } from '../store/results.ts'
import { deleteOldOutput } from '../store/tool-output.ts'
import type { Core } from './core.ts'
import type { Service } from './service.ts'
import { createService } from './service.ts'

const MINUTE_MS = 60_000
const BATCH = 1000
const KEYCHAIN_GRACE_SECONDS = 7 * 86_400
const OUTPUT_DAYS = 30
const BATCH_KEY_HOURS = 24

export interface ExpiryKeeper extends Service {
  /** Looks once; answers how many rows it deleted. */
  runOnce(): Promise<number>
}

export const createExpiryKeeper = (
  core: Core,
  { intervalMs = MINUTE_MS, outputDays = OUTPUT_DAYS }: { intervalMs?: number; outputDays?: number } = {},
): ExpiryKeeper => {
  const runOnce = async (): Promise<number> => {
    let deleted = await all(() =>
      deleteExpiredKeychain(core.shards.cluster, { graceSeconds: KEYCHAIN_GRACE_SECONDS, max: BATCH }),
    )
    deleted += await all(() => deleteExpiredDedupKeys(core.shards.cluster, BATCH))
    for (const database of core.shards.all) {
      deleted += await all(() => deleteExpiredResults(database, BATCH))
      deleted += await all(() => deleteOldOutput(database, outputDays, BATCH))
      deleted += await all(() => deleteOldBatches(database, BATCH_KEY_HOURS, BATCH))
    }
    return deleted
  }
  return { runOnce, ...createService({ name: 'expiry-keeper', intervalMs, log: core.log, run: runOnce }) }
}

/** In batches, so that no statement locks many rows. */
const all = async (deleteSome: () => Promise<number>): Promise<number> => {
  for (let total = 0; ;) {
    const count = await deleteSome()
    total += count
    if (count < BATCH) return total
  }
}
