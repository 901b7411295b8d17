import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createSealer, KEY_BYTES, SEAL_HEAD, SEAL_TAIL } from './sealer.ts'

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

describe('large data', () => {
  const KEY = Buffer.alloc(KEY_BYTES, 3)
  const roomFor = (text: string): Buffer =>
    Buffer.concat([Buffer.alloc(SEAL_HEAD), Buffer.from(text), Buffer.alloc(SEAL_TAIL)])

  test.each([0, 10, 5 * 1024 * 1024])(
    'of %i bytes is sealed where it stands, like a text',
    async (length) => {
      const text = 'ü'.repeat(length / 2)
      const sealer = createSealer(KEY)
      const room = roomFor(text)
      await sealer.sealInPlace(room)
      expect(room.includes('üü')).toBe(false)
      expect(sealer.open(room)).toBe(text)
      expect((await sealer.openBytes(room)).equals(Buffer.from(text))).toBe(true)
      expect((await sealer.openBytes(sealer.seal(text))).toString()).toBe(text)
    },
  )

  test('that was changed, or sealed with another key, is not opened', async () => {
    const sealed = createSealer(KEY).seal('text')
    await expect(createSealer(Buffer.alloc(KEY_BYTES, 4)).openBytes(sealed)).rejects.toThrow()
    sealed[SEAL_HEAD] = (sealed[SEAL_HEAD] ?? 0) ^ 1
    await expect(createSealer(KEY).openBytes(sealed)).rejects.toThrow()
    await expect(createSealer(KEY).openBytes(Buffer.from('nonsense'))).rejects.toThrow('not sealed by')
  })
})
