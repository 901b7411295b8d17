/** The framing spoken with an interpreter: one byte type, four bytes length (big endian), payload. */
const HEADER_BYTES = 5

export const encodeFrame = (type: string, payload: Buffer): Buffer => {
  const header = Buffer.allocUnsafe(HEADER_BYTES)
  header.write(type, 0, 'latin1')
  header.writeUInt32BE(payload.length, 1)
  return Buffer.concat([header, payload])
}

/** Cuts a byte stream, in whatever pieces it comes, into frames. */
export const createFrameDecoder = (
  onFrame: (type: string, payload: Buffer) => void,
): ((chunk: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (bytes.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + bytes.readUInt32BE(1)
      if (bytes.length < end) break
      onFrame(String.fromCharCode(bytes[0] as number), bytes.subarray(HEADER_BYTES, end))
      bytes = bytes.subarray(end)
    }
    rest = bytes
  }
}
