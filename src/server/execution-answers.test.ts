import { expect, test } from 'vitest'
import { durationWords, percentOf, timesOf } from './execution-answers.ts'

test.each([
  [0, '0ms'],
  [999.9, '999ms'],
  [1000, '1s'],
  [12_345, '12.3s'],
  [59_999, '59.9s'],
  [60_000, '1m 0s'],
  [125_000, '2m 5s'],
  [3_599_999, '59m 59s'],
  [3_840_000, '1h 4m'],
  [86_400_000, '1d 0h'],
  [266_400_000, '3d 2h'],
])('%i milliseconds are %s', (milliseconds, words) => {
  expect(durationWords(milliseconds)).toBe(words)
})

test.each([
  ['COMPLETED', 3, 3, 100],
  ['COMPLETED', 3, 2, 100],
  ['RUNNING', 0, 0, 0],
  ['RUNNING', 3, 1, 33],
  ['RUNNING', 3, 3, 99],
  ['FAILED', 4, 3, 75],
  ['CANCELLED', 2, 0, 0],
] as const)(
  '%s with %i steps entered and %i completed is at %i',
  (status, total_steps, completed_steps, percent) => {
    expect(percentOf({ status, total_steps, completed_steps })).toBe(percent)
  },
)

test('the duration ends with the execution, and until then with now', () => {
  const started_at = '2026-01-01T00:00:00.000Z'
  const now = Date.parse('2026-01-01T00:01:00.500Z')
  expect(timesOf({ started_at, finished_at: null }, now)).toEqual({
    start_time: started_at,
    end_time: null,
    duration_seconds: 60.5,
    duration_human: '1m 0s',
  })
  expect(timesOf({ started_at, finished_at: '2026-01-01T00:00:00.250Z' }, now)).toMatchObject({
    duration_seconds: 0.25,
    duration_human: '250ms',
  })
  // Clocks of two servers differ.
  expect(timesOf({ started_at, finished_at: '2025-12-31T23:59:59.999Z' }, now).duration_seconds).toBe(0)
})
