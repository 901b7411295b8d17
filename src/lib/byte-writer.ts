/** Text, written one piece after another into one buffer that has its memory for itself. */
export interface ByteWriter {
  add(text: string): void
  /** What was written since the given position. */
  since(position: number): Buffer
  position(): number
  /** Everything, with `head` bytes of room before it and `tail` behind it. The writer is done. */
  take(): Buffer
}

export interface WriterOptions {
  /** How many bytes are expected; more are taken, too. */
  readonly expected?: number
  readonly head?: number
  readonly tail?: number
}

const SMALLEST = 64 * 1024

export const createByteWriter = ({ expected = 0, head = 0, tail = 0 }: WriterOptions = {}): ByteWriter => {
  let buffer = Buffer.allocUnsafeSlow(Math.max(SMALLEST, head + expected + tail))
  let end = head

  const need = (bytes: number): void => {
    if (end + bytes + tail <= buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(end + bytes + tail, Math.ceil(buffer.length * 1.5)))
    buffer.copy(larger, 0, 0, end)
    buffer = larger
  }

  return {
    add(text) {
      need(Buffer.byteLength(text))
      end += buffer.write(text, end, 'utf8')
    },
    since: (position) => buffer.subarray(position, end),
    position: () => end,
    take: () => buffer.subarray(0, end + tail),
  }
}
