/**
 * Puts every envelope under the current master key, in small batches, while the server works.
 *
 * 1. Only the wrapped data key of an envelope is written anew.
 * 2. An envelope that somebody replaces meanwhile is left alone: the new one is under the current key already.
 * 3. One that no key opens is counted as failed and does not stop the others.
 */
import type { Wallet } from '../lib/envelope.ts'
import { EnvelopeError } from '../lib/envelope.ts'
import { envelopesOfCredentials, replaceCredentialEnvelope } from '../store/credentials.ts'
import type { Database } from '../store/database.ts'
import { envelopesOfKeychain, replaceKeychainEnvelopes } from '../store/keychain.ts'

export interface RotationLimits {
  readonly batchSize: number
  readonly maxBatches: number
}

export interface RotationCount {
  processed: number
  rewrapped: number
  skipped: number
  failed: number
  /** Key of the last row looked at. */
  lastKey: string | null
}

export const rotateKeys = async (
  database: Database,
  wallet: Wallet,
  limits: RotationLimits,
): Promise<{ credential: RotationCount; keychain: RotationCount }> => ({
  credential: await rotate(
    limits,
    (after, limit) => envelopesOfCredentials(database, after, limit),
    async (row) => {
      const next = wallet.rewrap(row.data)
      return next !== null && (await replaceCredentialEnvelope(database, row, next))
    },
  ),
  keychain: await rotate(
    limits,
    (after, limit) => envelopesOfKeychain(database, after, limit),
    async (row) => {
      const data = wallet.rewrap(row.data)
      const renewConfig = row.renewConfig === null ? null : wallet.rewrap(row.renewConfig)
      if (data === null && renewConfig === null) return false
      return replaceKeychainEnvelopes(database, row, {
        data: data ?? row.data,
        renewConfig: renewConfig ?? row.renewConfig,
      })
    },
  ),
})

const rotate = async <Row extends { readonly key: string }>(
  { batchSize, maxBatches }: RotationLimits,
  read: (after: string | null, limit: number) => Promise<readonly Row[]>,
  rewrap: (row: Row) => Promise<boolean>,
): Promise<RotationCount> => {
  const count: RotationCount = { processed: 0, rewrapped: 0, skipped: 0, failed: 0, lastKey: null }
  for (let batch = 0; batch < maxBatches; batch += 1) {
    const rows = await read(count.lastKey, batchSize)
    for (const row of rows) {
      count[await outcomeOf(rewrap(row))] += 1
      count.processed += 1
      count.lastKey = row.key
    }
    if (rows.length < batchSize) break
  }
  return count
}

const outcomeOf = async (work: Promise<boolean>): Promise<'rewrapped' | 'skipped' | 'failed'> => {
  try {
    return (await work) ? 'rewrapped' : 'skipped'
  } catch (error) {
    if (error instanceof EnvelopeError) return 'failed'
    throw error
  }
}
