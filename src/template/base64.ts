/** Base64 of UTF-8 text, in pure language so that it works in every host. */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const VALUES: ReadonlyMap<string, number> = new Map(Array.from(ALPHABET, (letter, value) => [letter, value]))

const utf8Bytes = (text: string): number[] => {
  const bytes: number[] = []
  for (const letter of text.toWellFormed()) {
    const code = letter.codePointAt(0) ?? 0
    if (code < 0x80) bytes.push(code)
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63))
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63))
    else {
      bytes.push(
        0xf0 | (code >> 18),
        0x80 | ((code >> 12) & 63),
        0x80 | ((code >> 6) & 63),
        0x80 | (code & 63),
      )
    }
  }
  return bytes
}

export const encodeBase64 = (text: string): string => {
  const bytes = utf8Bytes(text)
  let encoded = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    encoded += ALPHABET.charAt(group >> 18) + ALPHABET.charAt((group >> 12) & 63)
    encoded += at + 1 < bytes.length ? ALPHABET.charAt((group >> 6) & 63) : '='
    encoded += at + 2 < bytes.length ? ALPHABET.charAt(group & 63) : '='
  }
  return encoded
}

const decodeBytes = (encoded: string): number[] | undefined => {
  const digits = encoded.replace(/[\r\n\t ]/g, '').replace(/={1,2}$/, '')
  if (digits.length % 4 === 1) return undefined
  const bytes: number[] = []
  let group = 0
  let bits = 0
  for (const letter of digits) {
    const value = VALUES.get(letter)
    if (value === undefined) return undefined
    group = ((group << 6) | value) & 0xffffff
    bits += 6
    if (bits >= 8) {
      bits -= 8
      bytes.push((group >> bits) & 0xff)
    }
  }
  return bytes
}

/** Smallest code point that needs this many following bytes. */
const SMALLEST = [0, 0x80, 0x800, 0x10000]

const followers = (lead: number): number => {
  if (lead < 0x80) return 0
  if (lead >= 0xc2 && lead < 0xe0) return 1
  if (lead >= 0xe0 && lead < 0xf0) return 2
  return lead >= 0xf0 && lead < 0xf5 ? 3 : -1
}

const decodeUtf8 = (bytes: readonly number[]): string | undefined => {
  let text = ''
  for (let at = 0; at < bytes.length; at += 1) {
    const lead = bytes[at] ?? 0
    const following = followers(lead)
    if (following === -1) return undefined
    let code = following === 0 ? lead : lead & (0x3f >> following)
    for (let step = 0; step < following; step += 1) {
      at += 1
      const byte = bytes[at]
      if (byte === undefined || (byte & 0xc0) !== 0x80) return undefined
      code = (code << 6) | (byte & 0x3f)
    }
    const isSurrogate = code >= 0xd800 && code <= 0xdfff
    if (code < (SMALLEST[following] ?? 0) || code > 0x10ffff || isSurrogate) return undefined
    text += String.fromCodePoint(code)
  }
  return text
}

/** undefined when it is not base64 or not UTF-8 text. */
export const decodeBase64 = (encoded: string): string | undefined => {
  const bytes = decodeBytes(encoded)
  return bytes === undefined ? undefined : decodeUtf8(bytes)
}
