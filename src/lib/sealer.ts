/**
 * Authenticated encryption of what must not lie around in clear: AES-256-GCM, a fresh nonce each time.
 *
 * Large data is sealed and opened in parts, between which everybody else gets a turn; sealed bytes are the same either way.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'

export interface Sealer {
  seal(text: string): Buffer
  /** Throws when the bytes were not sealed with this key. */
  open(bytes: Buffer): string
  /** Seals what stands in this buffer where it stands: between `SEAL_HEAD` and `SEAL_TAIL` bytes of room. */
  sealInPlace(room: Buffer): Promise<void>
  /** The bytes of the text. Rejects when the bytes were not sealed with this key. */
  openBytes(bytes: Buffer): Promise<Buffer>
}

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
export const KEY_BYTES = 32
/** What sealing puts before and behind a text. */
export const SEAL_HEAD = 1 + NONCE_BYTES
export const SEAL_TAIL = TAG_BYTES
/** About a millisecond of work. */
const PART_BYTES = 2 * 1024 * 1024

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
    sealInPlace: async (room) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const body = room.subarray(SEAL_HEAD, room.length - SEAL_TAIL)
      for (let at = 0; at < body.length; at += PART_BYTES) {
        cipher.update(body.subarray(at, at + PART_BYTES)).copy(body, at)
        await nextTurn()
      }
      cipher.final()
      room[0] = VERSION
      nonce.copy(room, 1)
      cipher.getAuthTag().copy(room, room.length - TAG_BYTES)
    },
    openBytes: async (bytes) => {
      if (bytes[0] !== VERSION) throw new Error('not sealed by this version of NoETL')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, SEAL_HEAD))
      decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
      const sealed = bytes.subarray(SEAL_HEAD, bytes.length - TAG_BYTES)
      const body = Buffer.allocUnsafeSlow(sealed.length)
      for (let at = 0; at < sealed.length; at += PART_BYTES) {
        decipher.update(sealed.subarray(at, at + PART_BYTES)).copy(body, at)
        await nextTurn()
      }
      decipher.final()
      return body
    },
  }
}
