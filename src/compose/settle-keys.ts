/**
 * Which keys a server works with, settled before anything is opened or sealed.
 *
 * 1. A server whose keys open nothing of what is sealed in its database does not start, and makes no key: one that was
 *    lost can still be put back.
 * 2. A database in which nothing is sealed takes any key.
 * 3. One that is partly sealed with a key that is gone starts: whoever lost a key long ago goes on with what came since.
 * 4. A key that takes over from a former one is remembered as the current one, so the former may be taken away once
 *    everything is under the new key.
 * 5. What the user gave up is given up once: from then on the new key is the right one.
 */
import { ProblemError } from '../contract/problem.ts'
import { createWallet } from '../lib/envelope.ts'
import { createRotatingSealer } from '../lib/rotating-sealer.ts'
import type { Database } from '../store/database.ts'
import type { SealedSample } from '../store/sealed-samples.ts'
import { findSealedSamples, readEncryptionProbe, writeEncryptionProbe } from '../store/sealed-samples.ts'
import type { Log } from '../worker/log.ts'
import type { ConfiguredKeys, EncryptionKeys, FoundKeys } from './encryption-key.ts'
import { completeKeys, findEncryptionKeys } from './encryption-key.ts'

export interface KeyOptions extends ConfiguredKeys {
  readonly encryptionKeyLost?: boolean
  readonly log: Log
}

const PROBE_TEXT = 'noetl'

/** The first database keeps the probe. */
export const settleEncryptionKeys = async (
  options: KeyOptions,
  databases: readonly Database[],
): Promise<EncryptionKeys> => {
  const [cluster] = databases
  if (!cluster) throw new Error('a server has a database')
  const found = findEncryptionKeys(options)
  const probe = await readEncryptionProbe(cluster)
  const opensProbe = probe !== null && openerOf(found)(probe)
  if (!opensProbe) await refuseForeignKeys(options, found, databases)
  const keys = completeKeys(found)
  const wallet = createWallet(keys.key, keys.previous)
  const next = opensProbe ? wallet.rewrap(probe) : wallet.seal(PROBE_TEXT)
  if (next !== null) await writeEncryptionProbe(cluster, next)
  return keys
}

const refuseForeignKeys = async (
  { encryptionKeyLost = false, log }: KeyOptions,
  found: FoundKeys,
  databases: readonly Database[],
): Promise<void> => {
  const samples: SealedSample[] = []
  for (const database of databases) samples.push(...(await findSealedSamples(database)))
  const opens = openerOf(found)
  const foreign = samples.filter((sample) => !opens(sample)).length
  if (foreign === 0) return
  if (foreign === samples.length && !encryptionKeyLost) throw foreignKeyProblem(found)
  log.warn({}, 'Some of what is stored was sealed with an encryption key that is not here; it cannot be read')
}

/** Tells whether one of the keys opens a sample. */
const openerOf = ({ key, previous }: FoundKeys): ((sample: SealedSample) => boolean) => {
  const [first, ...others] = key === null ? previous : [key, ...previous]
  if (first === undefined) return () => false
  const wallet = createWallet(first, others)
  const sealer = createRotatingSealer(first, others)
  return (sample) => {
    try {
      if (typeof sample === 'string') wallet.open(sample)
      else sealer.open(sample)
      return true
    } catch {
      // That it does not open is the answer, whatever keeps it from opening.
      return false
    }
  }
}

const foreignKeyProblem = ({ key, file }: FoundKeys): ProblemError => {
  const sealed = 'the secrets and large results in this database were sealed with'
  const isMissing = key === null
  const what = isMissing
    ? `The encryption key is missing: ${String(file)} does not exist, and ${sealed} it. A new key would open none of them`
    : `The encryption key in ${file ?? 'NOETL_ENCRYPTION_KEY'} is not the one that ${sealed}: it opens none of them`
  const back = file === null ? 'Set' : `Put the former key back into ${file}, or set`
  return new ProblemError(
    'conflict',
    `${what}. ${back} NOETL_ENCRYPTION_KEY to the key used so far; all servers on one database need the same. ` +
      'If it was changed on purpose, set NOETL_ENCRYPTION_KEY_PREVIOUS to the former key. ' +
      'Only if the key is lost and all that it sealed is to be given up: start once with NOETL_ENCRYPTION_KEY_LOST=true ' +
      'and store the credentials anew.',
    { details: { keyFile: file } },
  )
}
