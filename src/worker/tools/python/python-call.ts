/**
 * What one interpreter hears about the call it runs, put together.
 *
 * 1. An answer is taken only when it is complete: its first eight bytes say how long it is.
 * 2. An answer above the limit is not collected; the caller is told at once, so that it can end the call.
 * 3. A large answer is put in its place as it comes: there is never a second copy of it, and it has its memory for itself.
 */
import { constants } from 'node:os'

import { LARGE_BYTES } from '../../../contract/large-data.ts'
import { createOutputText } from './output-text.ts'

export interface CallEnd {
  /** The answer of the call as JSON text; null when it ended without a complete one. */
  readonly answer: Buffer | null
  readonly tooLarge: boolean
  readonly stdout: string
  readonly stderr: string
  /** Null when a signal ended it, or when nothing is known. */
  readonly exitCode: number | null
  readonly signalName: string | null
  /** The interpreter itself went away. */
  readonly interpreterLost: boolean
  /** False when it is certain that no user code ran. */
  readonly started: boolean
}

export interface CallListeners {
  onOutput(stream: 'stdout' | 'stderr', text: string): void
  onTooLarge(): void
}

export interface CallCollector {
  started(): void
  output(stream: 'stdout' | 'stderr', chunk: Buffer): void
  answerPart(chunk: Buffer): void
  exited(report: { code: number; stdoutDropped: number; stderrDropped: number }): CallEnd
  lost(): CallEnd
}

const LENGTH_BYTES = 8

const signalName = (number: number): string => {
  const found = Object.entries(constants.signals).find(([, value]) => value === number)
  return found === undefined ? `signal ${number}` : found[0]
}

export const createCallCollector = (maxAnswerBytes: number, listeners: CallListeners): CallCollector => {
  const texts = { stdout: createOutputText(), stderr: createOutputText() }
  let parts: Buffer[] = []
  /** Where a large answer is put. */
  let place: Buffer | null = null
  let received = 0
  let tooLarge = false
  let started = false

  const completeAnswer = (): Buffer | null => {
    if (tooLarge) return null
    if (place !== null) return received === place.length ? place.subarray(LENGTH_BYTES) : null
    const bytes = Buffer.concat(parts)
    if (bytes.length < LENGTH_BYTES) return null
    const answer = bytes.subarray(LENGTH_BYTES)
    return BigInt(answer.length) === bytes.readBigUInt64BE(0) ? answer : null
  }

  /** The place for an answer that says of itself that it is large. */
  const placeFor = (first: Buffer): Buffer | null => {
    const length = first.length < LENGTH_BYTES ? 0n : first.readBigUInt64BE(0)
    return length > LARGE_BYTES && length <= maxAnswerBytes
      ? Buffer.allocUnsafeSlow(LENGTH_BYTES + Number(length))
      : null
  }
  const end = (
    code: number | null,
    dropped: readonly [number, number],
    interpreterLost: boolean,
  ): CallEnd => ({
    answer: completeAnswer(),
    tooLarge,
    stdout: texts.stdout.finish(dropped[0]),
    stderr: texts.stderr.finish(dropped[1]),
    exitCode: code === null || code < 0 ? null : code,
    signalName: code !== null && code < 0 ? signalName(-code) : null,
    interpreterLost,
    started,
  })

  return {
    started() {
      started = true
    },
    output(stream, chunk) {
      const text = texts[stream].add(chunk)
      if (text !== '') listeners.onOutput(stream, text)
    },
    answerPart(chunk) {
      if (received === 0) place = placeFor(chunk)
      const at = received
      received += chunk.length
      if (tooLarge) return
      if (received > maxAnswerBytes + LENGTH_BYTES) {
        tooLarge = true
        parts = []
        place = null
        listeners.onTooLarge()
      } else if (place === null) parts.push(chunk)
      else chunk.copy(place, at)
    },
    exited: ({ code, stdoutDropped, stderrDropped }) => end(code, [stdoutDropped, stderrDropped], false),
    lost: () => end(null, [0, 0], true),
  }
}
