import { expect, test } from 'vitest'
import { digestOf, formatToken, mintSecret, parseToken, sameDigest } from './access-token.ts'

test('a token is taken apart into what it was made of', () => {
  const secret = mintSecret()
  expect(parseToken(formatToken('42', secret))).toEqual({ id: '42', secret })
})

test('secrets have 256 random bits (1)', () => {
  const secrets = new Set(Array.from({ length: 100 }, mintSecret))
  expect(secrets.size).toBe(100)
  for (const secret of secrets) expect(Buffer.from(secret, 'base64url')).toHaveLength(32)
})

test('a secret with underlines and dashes is whole', () => {
  const secret = `_-${'a'.repeat(39)}-_`
  expect(parseToken(`noetl_7_${secret}`)).toEqual({ id: '7', secret })
})

test.each([
  '',
  'noetl_1_short',
  `noetl_0_${'a'.repeat(43)}`,
  `noetl_x_${'a'.repeat(43)}`,
  `noetl_1_${'a'.repeat(44)}`,
  `NOETL_1_${'a'.repeat(43)}`,
  ` noetl_1_${'a'.repeat(43)}`,
  `noetl_12345678901234567890_${'a'.repeat(43)}`,
])('%j is no token', (text) => {
  expect(parseToken(text)).toBeNull()
})

test('digests are compared by content, and those of other lengths differ (2)', () => {
  expect(sameDigest(digestOf('a'), digestOf('a'))).toBe(true)
  expect(sameDigest(digestOf('a'), digestOf('b'))).toBe(false)
  expect(sameDigest(digestOf('a'), Buffer.alloc(3))).toBe(false)
})
