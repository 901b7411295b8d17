/**
 * A message that only one receiver can open: an ephemeral X25519 key is agreed with the receiver's public key, HKDF-SHA256
 * makes a key and a nonce of the shared secret, and ChaCha20-Poly1305 seals the text. The ephemeral key is used
 * once, so the derived nonce never repeats under one key.
 */
import type { KeyObject } from 'node:crypto'
import { createCipheriv, createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync } from 'node:crypto'

export interface SealedBox {
  readonly alg: string
  readonly v: number
  /** Base64 of the 32 bytes of the ephemeral public key. */
  readonly eph_pub: string
  /** Base64 of ciphertext and tag. */
  readonly ciphertext: string
}

const ALGORITHM = 'x25519-hkdf-sha256-chacha20-poly1305'
const VERSION = 1
const INFO = 'noetl-sealed-v1'
const AUTHENTICATED = Buffer.from(`${ALGORITHM}|v=${VERSION}`, 'ascii')
const POINT_BYTES = 32
const KEY_BYTES = 32
const NONCE_BYTES = 12

/** Null unless the text is base64 of the 32 bytes of an X25519 public key. */
export const parsePublicKey = (base64: string): KeyObject | null => {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length !== POINT_BYTES) return null
  return createPublicKey({
    key: { kty: 'OKP', crv: 'X25519', x: bytes.toString('base64url') },
    format: 'jwk',
  })
}

export interface KeyPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

/** Null when the receiver's key is a point of small order, with which nobody can keep a secret. */
export const sealTo = (
  receiver: KeyObject,
  text: string,
  ephemeral: KeyPair = generateKeyPairSync('x25519'),
): SealedBox | null => {
  const shared = agree(ephemeral.privateKey, receiver)
  if (!shared) return null
  const derived = Buffer.from(hkdfSync('sha256', shared, Buffer.alloc(0), INFO, KEY_BYTES + NONCE_BYTES))
  const cipher = createCipheriv(
    'chacha20-poly1305',
    derived.subarray(0, KEY_BYTES),
    derived.subarray(KEY_BYTES),
    { authTagLength: 16 },
  )
  const plain = Buffer.from(text, 'utf8')
  cipher.setAAD(AUTHENTICATED, { plaintextLength: plain.length })
  const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  return {
    alg: ALGORITHM,
    v: VERSION,
    eph_pub: rawPublicKey(ephemeral.publicKey),
    ciphertext: sealed.toString('base64'),
  }
}

const agree = (privateKey: KeyObject, publicKey: KeyObject): Buffer | null => {
  try {
    return diffieHellman({ privateKey, publicKey })
  } catch {
    // Refused for one reason only: the agreed secret would be zero.
    return null
  }
}

const rawPublicKey = (key: KeyObject): string =>
  Buffer.from(String(key.export({ format: 'jwk' }).x), 'base64url').toString('base64')
