/**
 * Results and command contexts too large for an event. They are written first, in a row of their own, and then
 * referred to: a server that dies in between leaves a row that nothing refers to.
 *
 * 1. What was stored or read lately stays at hand, within a budget, because deciding cannot wait.
 * 2. A reference whose row is gone is an error that names it, never an empty value.
 * 3. Data is the same whether it comes from memory or from its row.
 * 4. Data that only looks like a reference is no reference: what a tool returned can name no result of others.
 */
import { createHash } from 'node:crypto'
import { formatReference, parseReference } from '../contract/api-results.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { markerOf, storeOf, summarise } from '../contract/summary.ts'
import { reportedData } from '../engine/envelope.ts'
import { referenceOf, ResultMissing } from '../engine/reference.ts'
import { exactJson, parseJson } from '../lib/exact-json.ts'
import { isLargerThan } from '../lib/json-size.ts'
import type { Sealer } from '../lib/sealer.ts'
import type { NextId } from '../lib/snowflake.ts'
import { insertResult, readResult } from '../store/results.ts'
import type { Shards } from '../store/shards.ts'
import { createHeldData } from './held-data.ts'

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
  /** Brings the data to hand and answers it; throws when it is gone. */
  fetch(ref: string): Promise<Json>
  /** The context of a command, under a name that is no step's. Answers its reference. */
  storeContext(executionId: string, step: string, context: Json): Promise<string>
  /** The data, or its marker once it is stored apart. */
  keep(executionId: string, step: string, data: Json): Promise<Json>
  /** The reported context with its data stored apart; the same context when the data is small enough. */
  externalise(executionId: string, step: string, context: Json, selected: readonly string[]): Promise<Json>
  /** The reported context with its data in it, wherever the worker put it. */
  internalise(context: Json): Promise<Json>
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

  const store = async (
    executionId: string,
    name: string,
    sourceStep: string | null,
    data: Json,
  ): Promise<StoredData> => {
    const text = exactJson(data)
    const resultId = nextId()
    const bytes = Buffer.byteLength(text)
    const sha256 = createHash('sha256').update(text).digest('hex')
    await insertResult(shards.of(executionId), {
      resultId,
      executionId,
      name,
      scope: 'execution',
      sourceStep,
      mediaType: 'application/json',
      logicalUri: null,
      bytes,
      sha256,
      sealed: sealer.seal(text),
      ttlSeconds: null,
    })
    const ref = formatReference(executionId, name, resultId)
    held.hold(ref, { data, bytes })
    return { ref, bytes, sha256, text }
  }

  const fetch: LargeResults['fetch'] = async (ref) => {
    const reference = parseReference(ref)
    const row =
      reference?.kind === 'stored' ? await readResult(shards.of(reference.executionId), reference) : null
    if (!row) {
      held.hold(ref, { data: undefined, bytes: 0 })
      throw new ResultMissing(ref)
    }
    const data = parseJson(sealer.open(row.data)) as Json
    held.hold(ref, { data, bytes: row.bytes })
    return data
  }

  /** A worker stored the data and left nothing but the reference: the marker is ours to make. */
  const adopt = async (
    context: JsonObject,
    { _ref: ref }: DeclaredMarker,
    selected: readonly string[],
  ): Promise<Json> => {
    try {
      const found = await fetch(ref)
      const text = exactJson(found)
      const marker = markerOf(found, { ref, bytes: Buffer.byteLength(text), text, selected })
      return withData(context, marker, declaredReference(context))
    } catch (error) {
      if (!(error instanceof ResultMissing)) throw error
      return failedBy(context, error)
    }
  }

  return {
    fetch,
    resolve: (ref) => {
      const entry = held.get(ref)
      if (entry && entry.data === undefined) throw new ResultMissing(ref)
      return entry?.data
    },
    storeContext: async (executionId, step, context) =>
      (await store(executionId, `command:${step}`, null, context)).ref,
    keep: async (executionId, step, data) => {
      if (!isLargerThan(data, INLINE_LIMIT) && referenceOf(data) === null) return data
      const stored = await store(executionId, step, step, data)
      return markerOf(data, { ...stored, selected: [] })
    },
    externalise: async (executionId, step, context, selected) => {
      if (!isObject(context)) return context
      const data = reportedData(context)
      if (data === undefined) return context
      if (isDeclared(context, data))
        return referenceOf(data) === null ? adopt(context, data, selected) : context
      if (!isLargerThan(data, INLINE_LIMIT) && referenceOf(data) === null) return context
      const stored = await store(executionId, step, step, data)
      return withData(context, markerOf(data, { ...stored, selected }), referenceFact(data, stored))
    },
    internalise: async (context) => {
      const data = isObject(context) ? reportedData(context) : undefined
      if (!isObject(context) || !isDeclared(context, data)) return context
      const { _ref: ref } = data
      try {
        return withData(context, await fetch(ref), null)
      } catch (error) {
        if (!(error instanceof ResultMissing)) throw error
        return failedBy(context, error)
      }
    },
  }
}

/** The reference that the worker itself names beside the data. */
const declaredReference = (context: JsonObject): JsonObject | null => {
  const result = context['result']
  const reference = isObject(result) ? result['reference'] : undefined
  return isObject(reference) ? reference : null
}

type DeclaredMarker = JsonObject & { readonly _ref: string }

/** True when the data stands for what lies behind that reference. */
const isDeclared = (context: JsonObject, data: Json | undefined): data is DeclaredMarker => {
  const ref = declaredReference(context)?.['ref']
  return typeof ref === 'string' && isObject(data) && data['_ref'] === ref
}

/** A report whose data is gone is a failure, whatever else it says. */
const failedBy = (context: JsonObject, { message }: ResultMissing): JsonObject => {
  const error = { kind: 'missing_reference', code: 'MISSING_REFERENCE', message, retryable: false }
  return { ...context, error, result: { status: 'error', context: { error } } }
}

/** The context with other data, at the one place where all programs look for it. */
const withData = (context: JsonObject, data: Json, reference: JsonObject | null): JsonObject => {
  const { data: _data, response: _response, ...rest } = context
  const result = isObject(context['result']) ? context['result'] : {}
  const inner = isObject(result['context']) ? result['context'] : {}
  const status = result['status']
  const before = reportedData(context)
  // Exports stand beside the data from here on: inside a summary they would be cut.
  const updates = isObject(before) ? before['_context_updates'] : undefined
  return {
    ...rest,
    result: {
      ...(status === undefined ? {} : { status }),
      context: { ...(updates === undefined ? {} : { context_updates: updates }), ...inner, data },
      ...(reference ? { reference } : {}),
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
