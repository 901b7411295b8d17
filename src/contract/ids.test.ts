import { expect, test } from 'vitest'
import { notAnId, parseId } from './ids.ts'

test.each([
  ['12', '12'],
  [' +7 ', '7'],
  ['-9223372036854775808', '-9223372036854775808'],
  ['9223372036854775807', '9223372036854775807'],
  [9007199254740991, '9007199254740991'],
])('%j is the id %s', (given, id) => {
  expect(parseId(given)).toBe(id)
})

test.each([
  ['9223372036854775808', "'9223372036854775808' is too large, an id has at most 64 bits"],
  ['1.5', "'1.5' is not a number"],
  ['', "'' is not a number"],
  ['x'.repeat(200), `'${'x'.repeat(100)}…' is not a number`],
])('%j is none, and the reason says why', (given, reason) => {
  expect(parseId(given)).toBeNull()
  expect(notAnId(given)).toBe(reason)
})
