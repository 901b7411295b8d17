/** Work on large data that is done beside the process, which has others to serve meanwhile. What is handed in is gone afterwards. */
import type { JsonObject } from '../../contract/json.ts'
import type { ProblemCode } from '../../contract/problem.ts'
import { createJobThread } from '../../lib/job-thread.ts'
import type { Digest } from './digest.ts'
import type { DataOutline } from './piece-outline.ts'

export type Job =
  | { readonly kind: 'digest' | 'outline'; readonly json: Uint8Array; readonly selected: readonly string[] }
  | { readonly kind: 'envelope' | 'redact'; readonly json: Uint8Array }

export type EnvelopeAnswer =
  | {
      /** The body without its data; null when it is no mapping. */
      readonly facts: JsonObject | null
      /** Null when there is no data. */
      readonly digest: Digest | null
    }
  | { readonly problem: { readonly code: ProblemCode; readonly message: string } }

export interface DataThread {
  /** Of JSON as tools write it. */
  digest(json: Uint8Array, selected: readonly string[]): Promise<Digest>
  /** Of JSON as it was stored. */
  outline(json: Uint8Array, selected: readonly string[]): Promise<DataOutline>
  /** Reads the body of a request that stores a result. */
  envelope(body: Uint8Array): Promise<EnvelopeAnswer>
  /** Stored JSON without what is sensitive. */
  redact(json: Uint8Array): Promise<Buffer>
}

export const createDataThread = (): DataThread => {
  const thread = createJobThread(new URL('thread-program.ts', import.meta.url))

  const run = (job: Job): Promise<unknown> => {
    const { json } = job
    const { buffer } = json
    // Memory that is shared with others cannot be moved.
    const owned = buffer instanceof ArrayBuffer && isAlone(json) ? json : new Uint8Array(json)
    return thread.run({ ...job, json: owned }, [owned.buffer as ArrayBuffer])
  }

  return {
    digest: async (json, selected) => withBuffer((await run({ kind: 'digest', json, selected })) as Digest),
    outline: async (json, selected) => (await run({ kind: 'outline', json, selected })) as DataOutline,
    envelope: async (body) => {
      const answer = (await run({ kind: 'envelope', json: body })) as EnvelopeAnswer
      return 'digest' in answer && answer.digest ? { ...answer, digest: withBuffer(answer.digest) } : answer
    },
    redact: async (json) => toBuffer((await run({ kind: 'redact', json })) as Uint8Array),
  }
}

/** Small buffers lie together in one piece of memory. */
const isAlone = (json: Uint8Array): boolean => json.buffer.byteLength > Buffer.poolSize

/** Buffers arrive as plain arrays. */
const toBuffer = (view: Uint8Array): Buffer => Buffer.from(view.buffer, view.byteOffset, view.byteLength)

const withBuffer = (digest: Digest): Digest => ({ ...digest, room: toBuffer(digest.room) })
