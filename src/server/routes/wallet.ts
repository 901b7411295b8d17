/** The keys that secrets are sealed with: which are in use, and the change from a former one to the current one. */
import type { FastifyInstance } from 'fastify'
import { RotateRequest } from '../../contract/api-secrets.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import type { KeyUse } from '../../store/credentials.ts'
import { countKeyUse } from '../../store/credentials.ts'
import type { ServerContext } from '../app.ts'
import { check } from '../http.ts'
import { createInternalGate } from '../internal-access.ts'
import type { RotationCount } from '../rotate-keys.ts'
import { rotateKeys } from '../rotate-keys.ts'
import { needWallet } from '../secret-access.ts'

export const walletRoutes = (
  app: FastifyInstance,
  { core, wallet, internalToken = null }: ServerContext,
): void => {
  const { cluster } = core.shards
  const onRequest = createInternalGate(internalToken)

  app.post('/api/internal/wallet/rotate-kek', { onRequest }, async (request) => {
    const { batch_size, max_batches } = check(RotateRequest, request.body)
    const limits = { batchSize: batch_size, maxBatches: max_batches }
    const { credential, keychain } = await rotateKeys(cluster, needWallet(wallet), limits)
    core.log.info({ credential, keychain }, 'keys rotated')
    return { credential: countAnswer(credential, rawInteger), keychain: countAnswer(keychain, (key) => key) }
  })

  app.get('/api/internal/wallet/key-status', { onRequest }, async () => {
    const uses = await countKeyUse(cluster)
    return {
      credential: countBy(uses, 'credential', ({ version }) => version),
      keychain: countBy(uses, 'keychain', ({ version }) => version),
      current_key: needWallet(wallet).fingerprint,
      by_key: {
        credential: countBy(uses, 'credential', ({ fingerprint }) => fingerprint),
        keychain: countBy(uses, 'keychain', ({ fingerprint }) => fingerprint),
      },
    }
  })
}

const countAnswer = (
  { processed, rewrapped, skipped, failed, lastKey }: RotationCount,
  toId: (key: string) => unknown,
) => ({
  processed,
  rewrapped,
  skipped,
  failed,
  last_id: lastKey === null ? null : toId(lastKey),
})

const countBy = (
  uses: readonly KeyUse[],
  table: KeyUse['table'],
  word: (use: KeyUse) => string | null,
): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const use of uses) {
    if (use.table !== table) continue
    const key = word(use) ?? 'unknown'
    counts[key] = (counts[key] ?? 0) + use.count
  }
  return counts
}
