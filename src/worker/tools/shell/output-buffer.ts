/**
 * Keeps one output stream of a process within a limit.
 *
 * 1. Up to the limit everything is kept. Beyond it the first and the last half of the limit are, with a note between
 *    them: the start says what ran, the end says how it ended.
 * 2. With a limit of zero nothing is kept, and there is no note.
 * 3. Characters cut by the edge of a chunk are put together again, in the live text and in the kept one.
 */
import { StringDecoder } from 'node:string_decoder'

export interface OutputBuffer {
  /** The text that became complete with this chunk. */
  add(chunk: Buffer): string
  readonly truncated: boolean
  text(): string
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

/** Moves an index forward to the start of a character. */
const characterStart = (bytes: Buffer, index: number): number => {
  let at = index
  while (at < bytes.length && isContinuation(bytes[at])) at += 1
  return at
}

export const createOutputBuffer = (maxBytes: number): OutputBuffer => {
  const live = new StringDecoder('utf8')
  const half = Math.floor(maxBytes / 2)
  let kept: Buffer[] = []
  let keptBytes = 0
  let head: Buffer | null = null
  let dropped = 0

  /** Chunks come in sizes of their own, so twice the tail may pile up before it is cut. */
  const cutTail = (): void => {
    const all = Buffer.concat(kept)
    const from = Math.max(0, all.length - half)
    dropped += from
    kept = [all.subarray(from)]
    keptBytes = all.length - from
  }

  return {
    add(chunk) {
      kept.push(chunk)
      keptBytes += chunk.length
      if (head === null && keptBytes > maxBytes) {
        const all = Buffer.concat(kept)
        head = all.subarray(0, half)
        kept = [all.subarray(half)]
        keptBytes = all.length - half
      }
      if (head !== null && keptBytes > maxBytes) cutTail()
      return live.write(chunk)
    },
    get truncated() {
      return head !== null
    },
    text() {
      if (maxBytes === 0) return ''
      if (head === null) return Buffer.concat(kept).toString()
      cutTail()
      const tail = Buffer.concat(kept)
      // A decoder that is not told the end leaves out a character that was cut.
      const start = new StringDecoder('utf8').write(head)
      const end = tail.subarray(characterStart(tail, 0)).toString()
      return `${start}\n[${dropped} bytes of output were dropped]\n${end}`
    },
  }
}
