import { createDecipheriv, createPrivateKey, createPublicKey, diffieHellman, hkdfSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { parsePublicKey, sealTo } from './sealed-box.ts'
import type { KeyPair, SealedBox } from './sealed-box.ts'

/** PKCS #8 is this header and the 32 bytes. */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex')

const keyPair = (firstByte: number): KeyPair => {
  const raw = Buffer.from(Array.from({ length: 32 }, (_, index) => firstByte + index))
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, raw]), format: 'der', type: 'pkcs8' })
  return { privateKey, publicKey: createPublicKey(privateKey) }
}

const open = (box: SealedBox, privateKey: KeyObject): string => {
  const publicKey = parsePublicKey(box.eph_pub)
  if (!publicKey) throw new Error('no public key')
  const derived = Buffer.from(
    hkdfSync('sha256', diffieHellman({ privateKey, publicKey }), '', 'noetl-sealed-v1', 44),
  )
  const bytes = Buffer.from(box.ciphertext, 'base64')
  const decipher = createDecipheriv('chacha20-poly1305', derived.subarray(0, 32), derived.subarray(32), {
    authTagLength: 16,
  })
  decipher.setAAD(Buffer.from('x25519-hkdf-sha256-chacha20-poly1305|v=1'), {
    plaintextLength: bytes.length - 16,
  })
  decipher.setAuthTag(bytes.subarray(bytes.length - 16))
  return Buffer.concat([decipher.update(bytes.subarray(0, bytes.length - 16)), decipher.final()]).toString(
    'utf8',
  )
}

/** Computed by an independent implementation: ephemeral key 01..20, receiver 21..40. */
const VECTORS: readonly (readonly [string, string])[] = [
  [
    '{"id":"1","name":"pg","type":"postgres","data":{"db_password":"s3cret"}}',
    'cg4tK8uVgOtumICadtUbrcdXHy7E97qx8N8wfial5HZFfsIp0T3R5y6jy01TBf7u41Jc9zHZbk2El+SbOI5cJOSS36kakSlpBDBJx+r4EAd+cOK3ogm2Eg==',
  ],
  ['', 'CTYGxBjOtQ1QnMta2UC96A=='],
  ['{"name":"ключ 🔑"}', 'cg4qLoTKgOBuZBgkrGnwXnpVn9ZySrq4rZ4DWOv1eL5yIwTCBn3DiQ=='],
]

describe('a sealed box', () => {
  const ephemeral = keyPair(1)
  const receiver = keyPair(33)

  test.each(VECTORS)('of %j is the one that others compute', (text, ciphertext) => {
    expect(sealTo(receiver.publicKey, text, ephemeral)).toEqual({
      alg: 'x25519-hkdf-sha256-chacha20-poly1305',
      v: 1,
      eph_pub: 'B6N8vBQgk8i3VdwbEOhstCY3StFqqFPtC9/AsrhtHHw=',
      ciphertext,
    })
  })

  test('is opened by its receiver and by nobody else', () => {
    const box = sealTo(receiver.publicKey, 'hunter2')
    if (!box) throw new Error('not sealed')
    expect(open(box, receiver.privateKey)).toBe('hunter2')
    expect(() => open(box, ephemeral.privateKey)).toThrow()
  })

  test('uses a new ephemeral key each time', () => {
    expect(sealTo(receiver.publicKey, 'a')?.eph_pub).not.toBe(sealTo(receiver.publicKey, 'a')?.eph_pub)
  })

  test('is refused to a receiver whose key keeps no secret', () => {
    const zero = parsePublicKey(Buffer.alloc(32).toString('base64'))
    expect(zero && sealTo(zero, 'hunter2')).toBeNull()
  })

  test.each(['', 'AAAA', Buffer.alloc(31).toString('base64'), Buffer.alloc(33).toString('base64'), '%%%'])(
    'has no receiver in %j',
    (text) => {
      expect(parsePublicKey(text)).toBeNull()
    },
  )
})
