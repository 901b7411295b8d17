/** Collects one output stream of a call as text; characters cut by the edge of a chunk are put together again. */
import { StringDecoder } from 'node:string_decoder'

export interface OutputText {
  /** The text that became complete with this chunk. */
  add(chunk: Buffer): string
  /** Everything, with a note about what the limit left out. */
  finish(droppedBytes: number): string
}

export const createOutputText = (): OutputText => {
  const decoder = new StringDecoder('utf8')
  const parts: string[] = []
  return {
    add(chunk) {
      const text = decoder.write(chunk)
      parts.push(text)
      return text
    },
    finish(droppedBytes) {
      const text = parts.join('') + decoder.end()
      return droppedBytes > 0 ? `${text}\n[${droppedBytes} more bytes of output were dropped]\n` : text
    },
  }
}
