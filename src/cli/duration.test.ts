import { expect, test } from 'vitest'
import { ageText, durationText } from './duration.ts'

test.each([
  [-1, '0 ms'],
  [999.4, '999 ms'],
  [1000, '1.0 s'],
  [59_949, '59.9 s'],
  [59_950, '1 min 0 s'],
  [125_000, '2 min 5 s'],
  [3_600_000, '1 h 0 min'],
])('%d ms is %s', (ms, text) => {
  expect(durationText(ms)).toBe(text)
})

test.each([
  [-5000, 'just now'],
  [999, 'just now'],
  [59_999, '59 s ago'],
  [60_000, '1 min ago'],
  [3_600_000, '1 h ago'],
  [47 * 3_600_000, '47 h ago'],
  [48 * 3_600_000, '2 d ago'],
])('%d ms before now is %s', (ms, text) => {
  expect(ageText(ms)).toBe(text)
})
