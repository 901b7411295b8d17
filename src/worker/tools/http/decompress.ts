/** Undoes the Content-Encoding of a body, off the main thread and under a limit of size. */
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib'

import { tooLarge, transportFailure } from './http-error.ts'

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

const gunzipBytes: Decoder = promisify(gunzip)
const inflateBytes: Decoder = promisify(inflate)
const inflateRawBytes: Decoder = promisify(inflateRaw)

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: gunzipBytes,
  'x-gzip': gunzipBytes,
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
  // Some servers send deflate without its zlib header, whose first byte ends in 8.
  deflate: (bytes, options) =>
    ((bytes[0] ?? 0) & 0x0f) === 8 ? inflateBytes(bytes, options) : inflateRawBytes(bytes, options),
}

/** An encoding nobody asked for leaves the bytes as they are. */
export const decompress = async (
  body: Buffer,
  encodings: string | undefined,
  where: string,
  maxBytes: number,
): Promise<Buffer> => {
  if (encodings === undefined || body.length === 0) return body
  let bytes = body
  for (const encoding of encodings.toLowerCase().split(',').reverse()) {
    const decoder = DECODERS[encoding.trim()]
    if (decoder === undefined) return bytes
    try {
      bytes = await decoder(bytes, { maxOutputLength: maxBytes })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(where, maxBytes)
      throw transportFailure(error, where)
    }
  }
  return bytes
}
