import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSealer } from './sealer.ts'

const sealer = createSealer(randomBytes(32))

test.each(['', 'a', 'ä😀'.repeat(1000)])('opens what it sealed', (text) => {
  expect(sealer.open(sealer.seal(text))).toBe(text)
})

test('never seals the same text to the same bytes', () => {
  expect(sealer.seal('x').equals(sealer.seal('x'))).toBe(false)
})

test('notices a changed byte and another key', () => {
  const sealed = sealer.seal('secret')
  sealed[15] = (sealed[15] ?? 0) ^ 1
  expect(() => sealer.open(sealed)).toThrow()
  expect(() => createSealer(randomBytes(32)).open(sealer.seal('secret'))).toThrow()
})

test('refuses a key of the wrong length', () => {
  expect(() => createSealer(randomBytes(16))).toThrow(/32 bytes/)
})
