/** The keys that secrets are sealed with: which are in use, and the change from a former one to the current one. */
import type { FastifyInstance } from 'fastify'
import { KeyUseAnswer, RotateAnswer } from '../../contract/answers-secrets.ts'
import { RotateRequest } from '../../contract/api-secrets.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import type { KeyUse } from '../../store/credentials.ts'
import { countKeyUse } from '../../store/credentials.ts'
import type { ServerContext } from '../app.ts'
import type { RotationCount } from '../rotate-keys.ts'
import { rotateKeys } from '../rotate-keys.ts'
import { route } from '../route.ts'
import { needWallet } from '../secret-access.ts'

const tag = 'wallet'
const access = 'internal'
const ROTATION_OUTCOMES = ['rewrapped', 'skipped', 'failed'] as const

export const walletRoutes = (app: FastifyInstance, { core, wallet, metrics }: ServerContext): void => {
  const { cluster } = core.shards

  route(
    app,
    {
      method: 'POST',
      url: '/api/internal/wallet/rotate-kek',
      name: 'rotateKeys',
      tag,
      access,
      summary: 'Seal everything with the current key',
      description: 'Needed after the key was changed; may be repeated until nothing is left.',
      body: RotateRequest,
      answer: RotateAnswer,
    },
    async ({ body: { batch_size, max_batches } }) => {
      const limits = { batchSize: batch_size, maxBatches: max_batches }
      const { credential, keychain } = await rotateKeys(cluster, needWallet(wallet), limits)
      core.log.info({ credential, keychain }, 'keys rotated')
      for (const [table, count] of Object.entries({ credential, keychain }))
        for (const status of ROTATION_OUTCOMES) metrics?.others.rotated.inc({ table, status }, count[status])
      return {
        credential: countAnswer(credential, rawInteger),
        keychain: countAnswer(keychain, (key) => key),
      }
    },
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/internal/wallet/key-status',
      name: 'getKeyUse',
      tag,
      access,
      summary: 'Which keys seal how much',
      answer: KeyUseAnswer,
    },
    async () => {
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
    },
  )
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
