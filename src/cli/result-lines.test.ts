import { expect, test } from 'vitest'
import { resultLines } from './result-lines.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

const long = Array.from({ length: 100 }, (_, index) => index)

test('a program gets everything', () => {
  expect(resultLines(long, createRecordingTerminal(), 'curl x')).toHaveLength(102)
})

test('at a terminal a long result is cut and the rest is where it says', () => {
  const lines = resultLines(long, createRecordingTerminal({ isTTY: true }), 'curl x')
  expect(lines).toHaveLength(31)
  expect(lines.at(-1)).toBe('… 72 more lines; all of it: curl x')
})

test('at a terminal a wide line is cut', () => {
  const lines = resultLines('x'.repeat(500), createRecordingTerminal({ isTTY: true }), 'curl x')
  expect(lines).toEqual([`${'x'.repeat(78)}…`, '… all of it: curl x'])
})

test('text is shown as it is, anything else as JSON', () => {
  const terminal = createRecordingTerminal({ isTTY: true })
  expect(resultLines('a "quoted" text', terminal, '')).toEqual(['a "quoted" text'])
  expect(resultLines({ a: 1 }, terminal, '')).toEqual(['{', '  "a": 1', '}'])
})
