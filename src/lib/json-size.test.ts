import { expect, test } from 'vitest'
import { isLargerThan } from './json-size.ts'

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
