/**
 * Results and command contexts too large for an event. They are written first, in a row of their own, and then
 * referred to: a server that dies in between leaves a row that nothing refers to.
 *
 * 1. What was stored or read lately stays at hand, within a budget, because deciding cannot wait.
 * 2. A reference whose row is gone is an error that names it, never an empty value.
 * 3. Data is the same whether it comes from memory or from its row.
 * 4. Data that only looks like a reference is no reference: what a tool returned can name no result of others.
 * 5. Data above a megabyte never holds up the process: it is read, written and sealed in parts, and looked through in a thread of
 *    its own. It becomes an object only when a decision needs it.
 */
import { createHash } from 'node:crypto'
import { formatReference, parseReference } from '../contract/api-results.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type { LargeData } from '../contract/large-data.ts'
import { LARGE_BYTES } from '../contract/large-data.ts'
import { markerFrom } from '../contract/summary.ts'
import { reportedData } from '../engine/envelope.ts'
import { referenceOf, ResultMissing } from '../engine/reference.ts'
import { exactJson, parseJson } from '../lib/exact-json.ts'
import { isLargerThan } from '../lib/json-size.ts'
import { createLru } from '../lib/lru.ts'
import { parseLarge } from '../lib/parse-large.ts'
import type { Sealer } from '../lib/sealer.ts'
import type { NextId } from '../lib/snowflake.ts'
import { writeLarge } from '../lib/write-large.ts'
import type { NewResult, ResultRow } from '../store/results.ts'
import { insertResult, readResult } from '../store/results.ts'
import type { Shards } from '../store/shards.ts'
import { createHeldData } from './held-data.ts'
import type { DataThread } from './large-data/data-thread.ts'
import { createDataThread } from './large-data/data-thread.ts'
import { dataOutline, type Digest } from './large-data/digest.ts'
import type { DataOutline } from './large-data/piece-outline.ts'
import {
  declaredReference,
  failedBy,
  isDeclared,
  referenceFact,
  updatesOf,
  withData,
} from './large-data/result-context.ts'

/** Data of a result up to this size stays in its event. */
const INLINE_LIMIT = 100 * 1024
/** A command's context up to this size stays in its event. */
export const CONTEXT_LIMIT = 512 * 1024
const AT_HAND_BYTES = 128 * 1024 * 1024
/** Outlines are small; reports that refer to what was just stored find theirs. */
const OUTLINES_AT_HAND = 200

interface StoredData {
  readonly ref: string
  readonly bytes: number
  readonly sha256: string
  outline(): DataOutline
}

interface KnownOutline {
  readonly outline: DataOutline
  readonly bytes: number
  readonly selected: readonly string[]
}

/** What is stored; its size and its seal come from the data. */
type ResultFacts = Omit<NewResult, 'resultId' | 'bytes' | 'sha256' | 'sealed'>

export interface LargeResults {
  /** The data if it is at hand; throws when it is known to be gone. */
  resolve(ref: string): Json | undefined
  /** Brings the data to hand and answers it; throws when it is gone. */
  fetch(ref: string): Promise<Json>
  /** The context of a command, under a name that is no step's. Answers its reference. */
  storeContext(executionId: string, step: string, context: Json): Promise<string>
  /** Data of a step, as bytes. Answers the reference that a report names; the same data is stored once. */
  storeLarge(
    executionId: string,
    step: string,
    large: LargeData,
    selected: readonly string[],
  ): Promise<JsonObject>
  /** Data that the thread has looked through. */
  storeDigest(facts: ResultFacts, digest: Digest): Promise<ResultRow>
  /** The data, or its marker once it is stored apart. */
  keep(executionId: string, step: string, data: Json): Promise<Json>
  /** The reported context stays as it is: its data is in it, and small enough. */
  isInline(context: Json): boolean
  /** The reported context with its data stored apart; the same context when the data is small enough. */
  externalise(executionId: string, step: string, context: Json, selected: readonly string[]): Promise<Json>
  /** The reported context with its data in it, wherever the worker put it. */
  internalise(context: Json): Promise<Json>
  /** Where work on large data is done. */
  readonly thread: DataThread
}

export interface LargeResultsOptions {
  readonly shards: Shards
  readonly sealer: Sealer
  readonly nextId: NextId
  /** Data kept in memory, in bytes. */
  readonly atHandBytes?: number
}

export const createLargeResults = (options: LargeResultsOptions): LargeResults => {
  const { shards, sealer, nextId, atHandBytes = AT_HAND_BYTES } = options
  const held = createHeldData(atHandBytes)
  const outlines = createLru<string, KnownOutline>(OUTLINES_AT_HAND)
  const thread = createDataThread()

  const insert = (
    facts: ResultFacts,
    data: Pick<NewResult, 'bytes' | 'sha256' | 'sealed'>,
  ): Promise<ResultRow> =>
    insertResult(shards.of(facts.executionId), { ...facts, ...data, resultId: nextId() })

  const storeSealed = async (facts: ResultFacts, { room, ...digest }: Digest): Promise<ResultRow> => {
    const row = await insert(facts, { ...digest, sealed: room })
    const ref = refOf(row)
    held.hold(ref, { sealed: room, bytes: digest.bytes })
    return row
  }

  const sealed = async (digest: Digest): Promise<Digest> => {
    await sealer.sealInPlace(digest.room)
    return digest
  }

  const storeDigest: LargeResults['storeDigest'] = async (facts, digest) => {
    const { bytes, outline } = digest
    const row = await storeSealed(facts, await sealed(digest))
    outlines.set(refOf(row), { outline, bytes, selected: [] })
    return row
  }

  const storeValue = async (
    facts: ResultFacts,
    data: Json,
    selected: readonly string[],
  ): Promise<StoredData> => {
    if (isLargerThan(data, LARGE_BYTES)) {
      const digest = await sealed(await thread.digest(await writeLarge(data), selected))
      const ref = refOf(await storeSealed(facts, digest))
      held.hold(ref, { data, bytes: digest.bytes })
      return { ref, bytes: digest.bytes, sha256: digest.sha256, outline: () => digest.outline }
    }
    const text = exactJson(data)
    const bytes = Buffer.byteLength(text)
    const sha256 = createHash('sha256').update(text).digest('hex')
    const ref = refOf(await insert(facts, { bytes, sha256, sealed: sealer.seal(text) }))
    held.hold(ref, { data, bytes })
    return { ref, bytes, sha256, outline: () => dataOutline(data, text, selected) }
  }

  /** What was handed over once is remembered: a report that is sent again refers to what it stored. */
  const digested = new WeakMap<LargeData, Promise<Digest>>()
  const stored = new WeakMap<LargeData, Promise<JsonObject>>()

  const storeLarge: LargeResults['storeLarge'] = (executionId, step, large, selected) => {
    let storing = stored.get(large)
    if (!storing) {
      storing = storeBytes(executionId, step, large, selected)
      stored.set(large, storing)
      // Whoever sends it again tries again.
      storing.catch(() => stored.delete(large))
    }
    return storing
  }

  const storeBytes: LargeResults['storeLarge'] = async (executionId, step, large, selected) => {
    const digesting = digested.get(large) ?? thread.digest(large.json, selected).then(sealed)
    digested.set(large, digesting)
    const digest = await digesting
    const { bytes, sha256, outline } = digest
    const ref = refOf(await storeSealed(ofStep(executionId, step), digest))
    outlines.set(ref, { outline, bytes, selected })
    return { ...referenceFact({ ref, bytes, sha256 }), extracted: outline.summary }
  }

  /** As it is stored; throws when it is gone. */
  const sealedOf = async (ref: string): Promise<{ readonly sealed: Buffer; readonly bytes: number }> => {
    const entry = held.get(ref)
    if (entry?.sealed) return { sealed: entry.sealed, bytes: entry.bytes }
    const reference = parseReference(ref)
    const row =
      reference?.kind === 'stored' ? await readResult(shards.of(reference.executionId), reference) : null
    if (row) return { sealed: row.data, bytes: row.bytes }
    held.hold(ref, { bytes: 0 })
    throw new ResultMissing(ref)
  }

  const fetch: LargeResults['fetch'] = async (ref) => {
    const { sealed: found, bytes } = await sealedOf(ref)
    const data = (
      bytes > LARGE_BYTES
        ? await parseLarge(await sealer.openBytes(found), { parse: parseJson })
        : parseJson(sealer.open(found))
    ) as Json
    held.hold(ref, { data, bytes })
    return data
  }

  const outlineFor = async (ref: string, selected: readonly string[]): Promise<KnownOutline> => {
    const known = outlines.get(ref)
    if (known && isSame(known.selected, selected)) return known
    const { sealed: found, bytes } = await sealedOf(ref)
    if (bytes > LARGE_BYTES) {
      held.hold(ref, { sealed: found, bytes })
      return { outline: await thread.outline(await sealer.openBytes(found), selected), bytes, selected }
    }
    const text = sealer.open(found)
    const data = parseJson(text) as Json
    held.hold(ref, { data, bytes })
    return { outline: dataOutline(data, text, selected), bytes, selected }
  }

  /** A worker stored the data and left nothing but the reference: the marker is ours to make. */
  const adopt = async (context: JsonObject, ref: string, selected: readonly string[]): Promise<Json> => {
    try {
      const { outline, bytes } = await outlineFor(ref, selected)
      return withData(context, {
        data: markerFrom(outline, { ref, bytes }),
        reference: declaredReference(context),
        updates: outline.updates,
      })
    } catch (error) {
      if (!(error instanceof ResultMissing)) throw error
      return failedBy(context, error)
    }
  }

  return {
    fetch,
    thread,
    storeLarge,
    storeDigest,
    resolve: (ref) => {
      const entry = held.get(ref)
      if (entry && entry.data === undefined && !entry.sealed) throw new ResultMissing(ref)
      return entry?.data
    },
    storeContext: async (executionId, step, context) =>
      (await storeValue({ ...ofStep(executionId, `command:${step}`), sourceStep: null }, context, [])).ref,
    keep: async (executionId, step, data) => {
      if (isSmall(data)) return data
      const kept = await storeValue(ofStep(executionId, step), data, [])
      return markerFrom(kept.outline(), kept)
    },
    isInline,
    externalise: async (executionId, step, context, selected) => {
      if (isInline(context) || !isObject(context)) return context
      const data = reportedData(context) ?? null
      if (isDeclared(context, data))
        return referenceOf(data) === null ? adopt(context, data['_ref'], selected) : context
      const kept = await storeValue(ofStep(executionId, step), data, selected)
      const outline = kept.outline()
      return withData(context, {
        data: markerFrom(outline, kept),
        reference: { ...referenceFact(kept), extracted: outline.summary },
        updates: updatesOf(context),
      })
    },
    internalise: async (context) => {
      const data = isObject(context) ? reportedData(context) : undefined
      if (!isObject(context) || !isDeclared(context, data)) return context
      try {
        const found = await fetch(data['_ref'])
        return withData(context, { data: found, reference: null, updates: updatesOf(context) })
      } catch (error) {
        if (!(error instanceof ResultMissing)) throw error
        return failedBy(context, error)
      }
    },
  }
}

const isInline = (context: Json): boolean => {
  if (!isObject(context)) return true
  const data = reportedData(context)
  return data === undefined || (!isDeclared(context, data) && isSmall(data))
}

/** And does not look like a reference, which it must not be taken for. */
const isSmall = (data: Json): boolean => !isLargerThan(data, INLINE_LIMIT) && referenceOf(data) === null

const ofStep = (executionId: string, name: string): ResultFacts => ({
  executionId,
  name,
  scope: 'execution',
  sourceStep: name,
  mediaType: 'application/json',
  logicalUri: null,
  ttlSeconds: null,
})

const refOf = ({ execution_id, name, result_id }: ResultRow): string =>
  formatReference(execution_id, name, result_id)

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((path, index) => path === other[index])
