/**
 * Large data of reports: stored before the report, which then only names it.
 *
 * 1. The same data is stored once, however often its report is sent.
 * 2. Data that came as an object is written without holding up the other commands of the worker.
 */
import type { CommandReport } from '../contract/command.ts'
import type { JsonObject } from '../contract/json.ts'
import { LARGE_BYTES } from '../contract/large-data.ts'
import { isLargerThan } from '../lib/json-size.ts'
import { writeLarge } from '../lib/write-large.ts'
import type { Transport } from './transport.ts'

export interface LargeUploads {
  /** The reference to the data of a report; null when the data is small enough to travel in it. */
  referenceFor(report: CommandReport): Promise<JsonObject | null> | null
}

interface StoredAnswer {
  readonly ref: string
  readonly store: string
  readonly scope: string
  readonly bytes: number
  readonly sha256: string
}

export const createLargeUploads = (transport: Transport): LargeUploads => {
  /** By the data itself, which a report that is sent again has, too. */
  const known = new WeakMap<object, JsonObject>()

  const upload = async ({ executionId, step }: CommandReport, json: Uint8Array): Promise<JsonObject> => {
    const facts = JSON.stringify({ name: step, source_step: step, scope: 'execution' })
    const body = Buffer.concat([Buffer.from(`${facts.slice(0, -1)},"data":`), json, Buffer.from('}')])
    const answer = (await transport.json('PUT', `/api/result/${executionId}`, { json: body })) as StoredAnswer
    const { ref, store, scope, bytes, sha256 } = answer
    return { kind: 'result_ref', ref, store, scope, meta: { bytes, sha256, media_type: 'application/json' } }
  }

  const stored = async (report: CommandReport, data: object): Promise<JsonObject> => {
    const before = known.get(data)
    if (before) return before
    const reference = await upload(report, report.large?.json ?? (await writeLarge(data)))
    known.set(data, reference)
    return reference
  }

  return {
    referenceFor(report) {
      const { large, data } = report
      if (large) return stored(report, large)
      if (typeof data !== 'object' || data === null || !isLargerThan(data, LARGE_BYTES)) return null
      return stored(report, data)
    },
  }
}
