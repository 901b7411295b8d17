/** Gives a fork results of its own where its origin stored them apart. A result that is gone stays a dead reference. */
import { formatReference, parseReference } from '../../contract/api-results.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { KeptStep, Seed } from '../../engine/fork-state.ts'
import { referenceOf } from '../../engine/reference.ts'
import { insertResult, readResult } from '../../store/results.ts'
import type { Core } from '../core.ts'

export const copyResults = async (core: Core, executionId: string, seed: Seed): Promise<Seed> => {
  const kept: KeptStep[] = []
  for (const step of seed.kept) {
    const ref = referenceOf(step.data)
    const copied = ref === null ? null : await copyResult(core, executionId, ref)
    kept.push(copied === null ? step : { ...step, data: { ...(step.data as JsonObject), _ref: copied } })
  }
  return { ...seed, kept }
}

const copyResult = async (core: Core, executionId: string, ref: string): Promise<string | null> => {
  const { shards, nextId } = core
  const parsed = parseReference(ref)
  const row = parsed?.kind === 'stored' ? await readResult(shards.of(parsed.executionId), parsed) : null
  if (!row) return null
  const resultId = nextId()
  await insertResult(shards.of(executionId), {
    resultId,
    executionId,
    name: row.name,
    scope: row.scope,
    sourceStep: row.source_step,
    mediaType: row.media_type,
    logicalUri: null,
    bytes: row.bytes,
    sha256: row.sha256,
    // Sealed with the key of the cluster, not with one of the execution.
    sealed: row.data,
    ttlSeconds: null,
  })
  return formatReference(executionId, row.name, resultId)
}
