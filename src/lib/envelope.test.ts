import { describe, expect, test } from 'vitest'
import { createWallet, EnvelopeError } from './envelope.ts'

const KEY = Buffer.alloc(32, 1)
const OTHER = Buffer.alloc(32, 9)

/** Made by an independent implementation from key 01.., data key 02.. and the nonces 03.. and 04... */
const FOREIGN =
  '{"v":1,"alg":"AES-256-GCM","ct":"AwMDAwMDAwMDAwMDvt+LSGSMDh6vwWYKoO8823SuYWocjOXKDv7bsJelQL9iHT4NwjU=","dek":{"p":"local","kid":"env:NOETL_ENCRYPTION_KEY","kv":"v1","ct":"BAQEBAQEBAQEBAQE7aNZQpu6uUulTpy+kleugHca66UuLuc2yYH/v8E6uRfaZtkfDc1vW3APtriYYyWl"}}'

const envelopeOf = (text: string) =>
  JSON.parse(text) as { ct: string; dek: { ct: string; p: string } & Record<string, string> }

describe('a wallet', () => {
  test.each(['', '{"password":"hunter2"}', '{"name":"ключ 🔑"}', 'x'.repeat(100_000)])(
    'opens what it sealed (1)',
    (text) => {
      const wallet = createWallet(KEY)
      expect(wallet.open(wallet.seal(text))).toBe(text)
    },
  )

  test('writes the envelope in its agreed form', () => {
    const sealed = createWallet(KEY).seal('{"password":"hunter2"}')
    expect(JSON.parse(sealed)).toMatchObject({
      v: 1,
      alg: 'AES-256-GCM',
      dek: { p: 'local', kid: 'env:NOETL_ENCRYPTION_KEY', kv: 'v1' },
    })
    expect(sealed).not.toContain('hunter2')
    // nonce 12, data key 32, tag 16
    expect(Buffer.from(envelopeOf(sealed).dek.ct, 'base64')).toHaveLength(60)
  })

  test('never makes the same envelope twice', () => {
    const wallet = createWallet(KEY)
    expect(wallet.seal('a')).not.toBe(wallet.seal('a'))
  })

  test('opens an envelope that another program made', () => {
    expect(createWallet(KEY).open(FOREIGN)).toBe('{"password":"hunter2"}')
  })

  test('refuses what another key sealed, without naming keys or values (3)', () => {
    const sealed = createWallet(KEY).seal('hunter2')
    expect(() => createWallet(OTHER).open(sealed)).toThrow(
      new EnvelopeError('sealed with a key that this server does not have'),
    )
  })

  test('refuses data that was changed', () => {
    const wallet = createWallet(KEY)
    const envelope = envelopeOf(wallet.seal('hunter2'))
    const bytes = Buffer.from(envelope.ct, 'base64')
    bytes[14] = (bytes[14] ?? 0) ^ 1
    expect(() => wallet.open(JSON.stringify({ ...envelope, ct: bytes.toString('base64') }))).toThrow(
      'the sealed data was changed',
    )
  })

  test.each([
    '',
    'null',
    '[]',
    '{}',
    '{"v":2}',
    '{"v":1,"alg":"AES-256-GCM","ct":"AA=="}',
    '{"v":1,"alg":"AES-256-GCM","ct":"","dek":{"p":"local","ct":""}}',
  ])('refuses %j, which is no envelope', (text) => {
    expect(() => createWallet(KEY).open(text)).toThrow(EnvelopeError)
  })

  test('names the keeper of a key that it cannot ask', () => {
    const foreign = FOREIGN.replace('"p":"local"', '"p":"gcp-kms"')
    expect(() => createWallet(KEY).open(foreign)).toThrow(
      "the data key is held by 'gcp-kms', which is not configured",
    )
  })

  test('refuses a key of the wrong size', () => {
    expect(() => createWallet(Buffer.alloc(16))).toThrow(RangeError)
  })
})

describe('rotation', () => {
  test('opens under a former key and rewraps for the current one, leaving the data alone (1, 2)', () => {
    const before = createWallet(OTHER).seal('hunter2')
    const wallet = createWallet(KEY, [OTHER])
    expect(wallet.open(before)).toBe('hunter2')
    const after = wallet.rewrap(before)
    expect(envelopeOf(after ?? '').ct).toBe(envelopeOf(before).ct)
    expect(createWallet(KEY).open(after ?? '')).toBe('hunter2')
    expect(() => createWallet(OTHER).open(after ?? '')).toThrow(EnvelopeError)
  })

  test('has nothing to do for what is under the current key', () => {
    const wallet = createWallet(KEY, [OTHER])
    expect(wallet.rewrap(wallet.seal('a'))).toBeNull()
    expect(wallet.rewrap(FOREIGN)).toBeNull()
  })

  test('fails for what no key opens', () => {
    expect(() => createWallet(KEY).rewrap(createWallet(OTHER).seal('a'))).toThrow(EnvelopeError)
  })

  test('fingerprints tell keys apart and are stable', () => {
    expect(createWallet(KEY).fingerprint).toBe(createWallet(KEY, [OTHER]).fingerprint)
    expect(createWallet(KEY).fingerprint).not.toBe(createWallet(OTHER).fingerprint)
  })
})
