import { expect, test } from 'vitest'
import {
  executionArgument,
  instantFlag,
  placeFlags,
  positionFlag,
  tokenArgument,
  wholeNumberFlag,
} from './flag-values.ts'

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

test('a number that is too large or too small is refused with what it may be', () => {
  expect(() => wholeNumberFlag('--as-of-event', '9'.repeat(30))).toThrow(
    `--as-of-event must be a whole number from 0 to 9223372036854775807, got '${'9'.repeat(30)}'`,
  )
  expect(() => wholeNumberFlag('--run', '0', { least: 1n, most: 5n })).toThrow(
    "--run must be a whole number from 1 to 5, got '0'",
  )
  expect(positionFlag('--as-of-position', '9007199254740991')).toBe('9007199254740991')
  expect(() => positionFlag('--as-of-position', '9007199254740992')).toThrow('from 0 to 9007199254740991')
})

test('a place in the past is named in one way', () => {
  const none = { asOfEvent: null, asOfPosition: null, asOfTime: null }
  expect(placeFlags(none)).toEqual({ event: null, position: null, time: null })
  expect(placeFlags({ ...none, asOfPosition: '3' })).toEqual({ event: null, position: '3', time: null })
  expect(() => placeFlags({ ...none, asOfPosition: '3', asOfEvent: '4' })).toThrow(
    'Give one of --as-of-event, --as-of-position and --as-of-time, not several',
  )
})

test.each(['abc', '', '../x', '1.5', '1'.repeat(30)])('%j is the id of nothing', (value) => {
  expect(() => executionArgument(value)).toThrow(
    `'${value}' is not the id of an execution; ids are whole numbers`,
  )
  expect(() => tokenArgument(value)).toThrow(`'${value}' is not the number of a token`)
})

test('an id keeps every digit, and loses what came along when it was copied', () => {
  expect(executionArgument(' 380589169514037249\n')).toBe('380589169514037249')
  expect(tokenArgument('3')).toBe('3')
})
