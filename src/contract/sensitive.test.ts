import { describe, expect, test } from 'vitest'
import { isSensitiveKey, isSensitiveText, redact, REDACTED } from './sensitive.ts'

test.each([
  'password',
  'db_password',
  'Session-Token',
  'accessToken',
  'X-Api-Key',
  'Authorization',
  'clientSecret',
  'PRIVATE_KEY',
  'user credentials',
  'refresh_token',
])('key %s is sensitive', (key) => {
  expect(isSensitiveKey(key)).toBe(true)
})

test.each([
  'author',
  'authors',
  'next_page_token',
  'pageToken',
  'next_token',
  'continuation_token',
  'sync_token',
  'token_count',
  'token_type',
  'total_tokens',
  'certificate_id',
  'secretary',
  'tokenizer',
  'key',
  'password_reset_at',
])('key %s is not', (key) => {
  expect(isSensitiveKey(key)).toBe(false)
})

describe('texts', () => {
  test.each([
    'Bearer abc',
    'basic dXNlcg==',
    `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.sig-nature_1`,
    '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----',
  ])('%s is a secret', (text) => {
    expect(isSensitiveText(text)).toBe(true)
  })

  test.each([
    'bearer',
    'basically fine',
    'a'.repeat(64),
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '',
  ])('%s is not', (text) => {
    expect(isSensitiveText(text)).toBe(false)
  })
})

test('redact replaces at any depth and keeps the rest', () => {
  const value = {
    a: [{ login: { token: 't', user: 'u' } }],
    password: null,
    n: 1,
    h: { Authorization: 'Bearer x' },
  }
  expect(redact(value)).toEqual({
    a: [{ login: { token: REDACTED, user: 'u' } }],
    password: null,
    n: 1,
    h: { Authorization: REDACTED },
  })
})

test('redact returns the same value when nothing is sensitive', () => {
  const value = { a: [1, { b: 'c' }] }
  expect(redact(value)).toBe(value)
})
