import { expect, test } from 'vitest'
import { isLargerThan, sizeUpTo } from './json-size.ts'

test.each([
  ['x'.repeat(100), true],
  ['x'.repeat(20), false],
  [Array.from({ length: 100 }, () => 1), true],
  [{ a: { b: ['x'.repeat(90)] } }, true],
  [{ a: { b: ['y'] } }, false],
  [null, false],
])('%# is judged by the length of its text', (value, larger) => {
  expect(isLargerThan(value, 64)).toBe(larger)
})

test('the size is that of the text, about, and above the limit where it is cut off', () => {
  expect(sizeUpTo({ a: 'x'.repeat(10) }, 100)).toBeGreaterThan(10)
  expect(sizeUpTo({ a: 'x'.repeat(10) }, 100)).toBeLessThan(30)
  expect(sizeUpTo(['x'.repeat(1000), 'y'.repeat(1000)], 100)).toBeGreaterThan(100)
})
