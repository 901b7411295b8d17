/** Lines as compressed blocks and back, a block at a time: the whole text never has to exist. */
import { createHash } from 'node:crypto'
import { setImmediate as untilOthersRan } from 'node:timers/promises'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

const BLOCK_CHARACTERS = 512 * 1024
const LENGTH_BYTES = 4

export interface Packed {
  readonly bytes: Buffer
  readonly sha256: string
}

export const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

export const packLines = async (lines: Iterable<string>): Promise<Packed> => {
  const blocks: Buffer[] = []
  let gathered: string[] = []
  let characters = 0
  const close = (): void => {
    const block = zstdCompressSync(gathered.join('\n'))
    const length = Buffer.alloc(LENGTH_BYTES)
    length.writeUInt32BE(block.length)
    blocks.push(length, block)
    gathered = []
    characters = 0
  }
  for (const line of lines) {
    gathered.push(line)
    characters += line.length
    if (characters < BLOCK_CHARACTERS) continue
    close()
    await untilOthersRan()
  }
  close()
  const bytes = Buffer.concat(blocks)
  return { bytes, sha256: sha256Of(bytes) }
}

/** Throws when the bytes are not those of packed lines. */
export function* unpackLines(bytes: Buffer): Generator<string> {
  for (let at = 0; at < bytes.length;) {
    const start = at + LENGTH_BYTES
    const end = start + bytes.readUInt32BE(at)
    yield* zstdDecompressSync(bytes.subarray(start, end)).toString().split('\n')
    at = end
  }
}
