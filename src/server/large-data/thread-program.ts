/** What runs in the thread for large data: jobs of `data-thread.ts`, done one after another. */
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { ProblemError } from '../../contract/problem.ts'
import { DEPTH_LIMIT } from '../../contract/summary.ts'
import { parseJson } from '../../lib/exact-json.ts'
import { serveJobs, type Done } from '../../lib/job-thread.ts'
import { jsonPieces, type JsonPiece } from '../../lib/json-pieces.ts'
import { withoutPrototypeKeys } from '../body-shape.ts'
import type { EnvelopeAnswer, Job } from './data-thread.ts'
import { type Digest, digestJson, digestPieces, outlineJson, redactJson } from './digest.ts'
import { openEnvelope } from './envelope.ts'

/** What was stored keeps ids as they are. */
const STORED = { parse: parseJson }

const bytesOf = (view: Uint8Array): Buffer => Buffer.from(view.buffer, view.byteOffset, view.byteLength)

const handOver = (value: unknown, bytes: Uint8Array): Done => ({
  value,
  transfer: [bytes.buffer as ArrayBuffer],
})

/** Pieces of a body, each made safe to walk. */
function* checked(pieces: Iterable<JsonPiece>): Generator<JsonPiece, void> {
  let depth = 0
  for (const piece of pieces) {
    if (piece.kind === 'open') depth += 1
    if (piece.kind === 'close') depth -= 1
    if (piece.kind === 'members') withoutPrototypeKeys(piece.members, depth - 1)
    if (piece.kind === 'whole') withoutPrototypeKeys(piece.value)
    yield piece
  }
}

const wholeBody = (body: Buffer): JsonObject => {
  const value = withoutPrototypeKeys(parseJson(body.toString()))
  return isObject(value) ? value : {}
}

const readEnvelope = (body: Buffer): EnvelopeAnswer => {
  const pieces = jsonPieces(body, { parse: parseJson, maxDepth: DEPTH_LIMIT + 1 })
  const envelope = openEnvelope(checked(pieces))
  let whole: JsonObject | null = null
  const again = (): Json => {
    whole = wholeBody(body)
    return whole['data'] ?? null
  }
  const digest: Digest = digestPieces(envelope.data, [], { expected: body.length, again })
  if (whole === null) return { facts: envelope.facts(), digest: envelope.hasData() ? digest : null }
  const { data: _data, ...facts }: JsonObject = whole
  return { facts, digest }
}

/** What is wrong with the body, as a value: errors of our own do not survive the way back. */
const tryEnvelope = (body: Buffer): EnvelopeAnswer => {
  try {
    return readEnvelope(body)
  } catch (error) {
    if (error instanceof ProblemError) return { problem: { code: error.code, message: error.message } }
    if (!(error instanceof SyntaxError)) throw error
    return { problem: { code: 'bad_request', message: `The body is not JSON: ${error.message}` } }
  }
}

const run = (job: Job): Done => {
  const json = bytesOf(job.json)
  if (job.kind === 'outline') return { value: outlineJson(json, job.selected, STORED) }
  if (job.kind === 'digest') {
    const digest = digestJson(json, job.selected)
    return handOver(digest, digest.room)
  }
  if (job.kind === 'redact') {
    const redacted = redactJson(json, STORED)
    return handOver(redacted, redacted)
  }
  const answer = tryEnvelope(json)
  return 'digest' in answer && answer.digest ? handOver(answer, answer.digest.room) : { value: answer }
}

serveJobs((job) => {
  const done = run(job as Job)
  // Given back now, not when somebody collects it.
  const { buffer } = (job as Job).json
  if (buffer instanceof ArrayBuffer && !done.transfer?.includes(buffer)) buffer.transfer(0)
  return done
})
