/** Authenticated encryption of what must not lie around in clear: AES-256-GCM, a fresh nonce each time. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

export interface Sealer {
  seal(text: string): Buffer
  /** Throws when the bytes were not sealed with this key. */
  open(bytes: Buffer): string
}

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
export const KEY_BYTES = 32

export const createSealer = (key: Buffer): Sealer => {
  if (key.length !== KEY_BYTES)
    throw new RangeError(`an encryption key has ${KEY_BYTES} bytes, got ${key.length}`)
  return {
    seal: (text) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.of(VERSION), nonce, body, cipher.getAuthTag()])
    },
    open: (bytes) => {
      if (bytes[0] !== VERSION) throw new Error('not sealed by this version of NoETL')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, 1 + NONCE_BYTES))
      decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
      const body = decipher.update(bytes.subarray(1 + NONCE_BYTES, bytes.length - TAG_BYTES))
      return Buffer.concat([body, decipher.final()]).toString('utf8')
    },
  }
}
