import { expect, test } from 'vitest'
import { instantFlag, wholeNumberFlag } from './flag-values.ts'

test.each([null, '0', '7', '380455666239586304'])('%j is a whole number', (value) => {
  expect(wholeNumberFlag('--run', value)).toBe(value)
})

test.each(['', 'x', '-1', '1.5', '1e3', ' 1'])('%j is none, and the flag is named', (value) => {
  expect(() => wholeNumberFlag('--run', value)).toThrow(`--run must be a whole number, got '${value}'`)
})

test.each([null, '2026-01-31T12:00:00Z', '2026-01-31T12:00:00.123456+01:00', '2026-01-31T12:00Z'])(
  '%j is an instant',
  (value) => {
    expect(instantFlag('--as-of-time', value)).toBe(value)
  },
)

test.each(['yesterday', '2026-01-31', '2026-01-31T12:00:00', '2026-13-31T12:00:00Z', ''])(
  '%j is none, and the flag is named',
  (value) => {
    expect(() => instantFlag('--as-of-time', value)).toThrow('--as-of-time must be an instant with its zone')
  },
)
