/**
 * Results and command contexts too large for an event. They are written first, in a row of their own, and then
 * referred to: a server that dies in between leaves a row that nothing refers to.
 *
 * 1. What was stored or read lately stays at hand, within a budget, because deciding cannot wait.
 * 2. A reference whose row is gone is an error that names it, never an empty value.
 */
import { createHash } from 'node:crypto'
import { formatReference, parseReference } from '../contract/api-results.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { markerOf, storeOf, summarise } from '../contract/summary.ts'
import { parseJson } from '../lib/exact-json.ts'
import { isLargerThan } from '../lib/json-size.ts'
import type { Sealer } from '../lib/sealer.ts'
import type { NextId } from '../lib/snowflake.ts'
import { insertResult, readResult } from '../store/results.ts'
import type { Shards } from '../store/shards.ts'

/** Data of a result up to this size stays in its event. */
const INLINE_LIMIT = 100 * 1024
/** A command's context up to this size stays in its event. */
export const CONTEXT_LIMIT = 512 * 1024
const AT_HAND_BYTES = 128 * 1024 * 1024

export interface StoredData {
  readonly ref: string
  readonly bytes: number
  readonly sha256: string
  readonly text: string
}

export interface LargeResults {
  /** The data if it is at hand; throws when it is known to be gone. */
  resolve(ref: string): Json | undefined
  /** Brings the data to hand. */
  fetch(ref: string): Promise<void>
  store(executionId: string, name: string, data: Json): Promise<StoredData>
  /** The reported context with its data stored apart; the same context when the data is small enough. */
  externalise(executionId: string, step: string, context: Json, selected: readonly string[]): Promise<Json>
}

interface Held {
  readonly data: Json | undefined
  readonly bytes: number
}

export const createLargeResults = ({
  shards,
  sealer,
  nextId,
}: {
  shards: Shards
  sealer: Sealer
  nextId: NextId
}): LargeResults => {
  const held = new Map<string, Held>()
  let heldBytes = 0

  const hold = (ref: string, entry: Held): void => {
    held.set(ref, entry)
    heldBytes += entry.bytes
    for (const [oldest, { bytes }] of held) {
      if (heldBytes <= AT_HAND_BYTES || oldest === ref) break
      held.delete(oldest)
      heldBytes -= bytes
    }
  }

  const store: LargeResults['store'] = async (executionId, name, data) => {
    const text = JSON.stringify(data)
    const resultId = nextId()
    const bytes = Buffer.byteLength(text)
    const sha256 = createHash('sha256').update(text).digest('hex')
    await insertResult(shards.of(executionId), {
      resultId,
      executionId,
      name,
      scope: 'execution',
      sourceStep: name,
      mediaType: 'application/json',
      logicalUri: null,
      bytes,
      sha256,
      sealed: sealer.seal(text),
      ttlSeconds: null,
    })
    const ref = formatReference(executionId, name, resultId)
    hold(ref, { data, bytes })
    return { ref, bytes, sha256, text }
  }

  return {
    store,
    resolve: (ref) => {
      const entry = held.get(ref)
      if (entry && entry.data === undefined)
        throw new Error(`missing_reference: the result ${ref} does not exist any more`)
      return entry?.data
    },
    fetch: async (ref) => {
      const reference = parseReference(ref)
      const row =
        reference?.kind === 'stored' ? await readResult(shards.of(reference.executionId), reference) : null
      hold(
        ref,
        row
          ? { data: parseJson(sealer.open(row.data)) as Json, bytes: row.bytes }
          : { data: undefined, bytes: 0 },
      )
    },
    externalise: async (executionId, step, context, selected) => {
      const result = isObject(context) ? context['result'] : undefined
      const inner = isObject(result) ? result['context'] : undefined
      if (!isObject(context) || !isObject(result) || !isObject(inner)) return context
      const data = inner['data'] ?? null
      if (!isLargerThan(data, INLINE_LIMIT)) return context
      const stored = await store(executionId, step, data)
      return {
        ...context,
        result: {
          ...result,
          context: { ...inner, data: markerOf(data, { ...stored, selected }) },
          reference: referenceFact(data, stored),
        },
      }
    },
  }
}

/** The reference as other programs look for it in an event. */
const referenceFact = (data: Json, { ref, bytes, sha256 }: StoredData): JsonObject => ({
  kind: 'result_ref',
  ref,
  store: storeOf(bytes),
  scope: 'execution',
  meta: { bytes, sha256, media_type: 'application/json' },
  extracted: summarise(data),
})
