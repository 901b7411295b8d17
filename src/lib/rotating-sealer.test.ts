import { expect, test } from 'vitest'
import { createRotatingSealer } from './rotating-sealer.ts'
import { createSealer } from './sealer.ts'

const KEY = Buffer.alloc(32, 1)
const OTHER = Buffer.alloc(32, 9)

test('seals with the current key and opens what a former one sealed', () => {
  const sealer = createRotatingSealer(KEY, [Buffer.alloc(32, 5), OTHER])
  expect(createSealer(KEY).open(sealer.seal('now'))).toBe('now')
  expect(sealer.open(createSealer(OTHER).seal('before'))).toBe('before')
})

test('refuses what none of its keys sealed', () => {
  expect(() => createRotatingSealer(KEY, []).open(createSealer(OTHER).seal('a'))).toThrow()
})

test('opens bytes that a former key sealed, and seals in place with the current one', async () => {
  const [former, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const sealer = createRotatingSealer(current, [former])
  expect((await sealer.openBytes(createSealer(former).seal('before'))).toString()).toBe('before')
  const room = Buffer.alloc(1 + 12 + 3 + 16, 'x')
  await sealer.sealInPlace(room)
  expect(createSealer(current).open(room)).toBe('xxx')
  await expect(sealer.openBytes(createSealer(Buffer.alloc(32, 9)).seal('x'))).rejects.toThrow()
})
