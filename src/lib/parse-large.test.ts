import { expect, test } from 'vitest'

import type { Json } from '../contract/json.ts'
import { parseLarge } from './parse-large.ts'

const parsed = async (text: string, sliceBytes: number) => {
  let pauses = 0
  const pause = (): Promise<void> => {
    pauses += 1
    return Promise.resolve()
  }
  return { value: await parseLarge(Buffer.from(text), { sliceBytes, pause }), pauses: () => pauses }
}

const VALUES: readonly Json[] = [
  null,
  1.5,
  'text',
  [],
  {},
  [1, 'zwei', [3, { vier: 5 }], null],
  { a: 'comma, "quoted" \\ and {braces} [too]', b: ['\\"', '\\\\'], 'k:e,y': { 'n"ested': [[], {}] } },
  { rows: Array.from({ length: 30 }, (_, id) => ({ id, name: `näme-${id}`, tags: ['x', { y: id }] })) },
  [[[[['deep']]]], { a: { b: { c: { d: 'x'.repeat(50) } } } }],
  'ü'.repeat(40),
]

test.each([1, 2, 7, 16, 64, 100_000])(
  'gives what JSON.parse gives, whatever the slices: %i bytes (rule 1)',
  async (size) => {
    for (const value of VALUES) {
      for (const text of [JSON.stringify(value), ` ${JSON.stringify(value, null, 2)}\n`]) {
        expect((await parsed(text, size)).value).toEqual(value)
      }
    }
  },
)

test('keeps a key that objects have of their own', async () => {
  const { value } = await parsed('{"__proto__": {"a": [1, 2, 3, 4, 5]}, "b": 1}', 4)
  expect(Object.keys(value as object)).toEqual(['__proto__', 'b'])
})

test('lets others have a turn between slices (rule 2)', async () => {
  const text = JSON.stringify(Array.from({ length: 100 }, (_, n) => ({ n })))
  expect((await parsed(text, 100)).pauses()).toBeGreaterThan(5)
})

test('parses small input at once (rule 3)', async () => {
  expect((await parsed('{"a": [1, 2]}', 1000)).pauses()).toBe(0)
})

test.each(['{"a": [1, 2', '[1, 2,, 3]', '{"a" 1, "b": 2}', '[1 2 3]', ''])(
  'refuses what is no JSON: %s',
  async (text) => {
    await expect(parsed(text, 2)).rejects.toThrow(SyntaxError)
  },
)
