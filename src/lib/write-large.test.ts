import { expect, test } from 'vitest'
import { exactJson } from './exact-json.ts'
import { parseLarge } from './parse-large.ts'
import { writeLarge } from './write-large.ts'

const VALUES: readonly unknown[] = [
  null,
  'text',
  [],
  {},
  [1, 'zwei', [3, { vier: 5 }], null, 1e20],
  { '10': 'b', '9': 'a', z: { rows: Array.from({ length: 40 }, (_, id) => ({ id, 'nä"me': 'ü😀' })) } },
  [[[[['deep', 'x'.repeat(40)]]]], 'y'],
  { long: 'x'.repeat(200), after: [1, 2, 3] },
  JSON.parse('{"__proto__": {"a": [1, 2, 3, 4, 5, 6, 7, 8]}, "b": 1}'),
]

test.each([1, 10, 60, 100_000])(
  'writes what exactJson writes, in groups of %i bytes (rule 1)',
  async (sliceBytes) => {
    for (const value of VALUES) {
      const written = await writeLarge(value, { sliceBytes })
      expect(written.toString()).toBe(exactJson(value))
      expect(await parseLarge(written, { sliceBytes })).toEqual(value)
    }
  },
)

test('writes as it is told to', async () => {
  const written = await writeLarge([1e20, 2, 3], { sliceBytes: 1, stringify: JSON.stringify })
  expect(written.toString()).toBe('[100000000000000000000,2,3]')
})

test('lets others have a turn between groups (rule 2)', async () => {
  let pauses = 0
  const pause = async (): Promise<void> => {
    pauses += 1
  }
  await writeLarge(
    Array.from({ length: 100 }, (_, n) => ({ n })),
    { sliceBytes: 100, pause },
  )
  expect(pauses).toBeGreaterThan(5)
})
