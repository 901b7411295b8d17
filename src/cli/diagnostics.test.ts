import { expect, test } from 'vitest'
import type { Diagnostic } from '../playbook/problem.ts'
import { diagnosticLines } from './diagnostics.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

const problem = (line: number, column: number): Diagnostic => ({
  severity: 'error',
  code: 'CODE',
  message: 'Wrong.',
  line,
  column,
  path: '',
})

const show = (text: string, line: number, column: number) =>
  diagnosticLines('a.yaml', text, [problem(line, column)], createRecordingTerminal())

test('the place, the words, the line and a caret under the column', () => {
  expect(show('a: 1\nb: [x]\n', 2, 5)).toEqual([
    'a.yaml:2:5: error Wrong. [CODE]',
    '  2 | b: [x]',
    '    |     ^',
  ])
})

test('tabs before the place keep the caret under it', () => {
  expect(show('\tx', 1, 2).at(-1)).toBe('    | \t^')
})

test('an empty line or a place behind the end needs no excerpt', () => {
  expect(show('a: 1\n\n', 2, 1)).toHaveLength(1)
  expect(show('a: 1', 9, 1)).toHaveLength(1)
})

test('of a very long line the part around the place is shown', () => {
  const [, source = '', caret = ''] = show(`${'x'.repeat(500)}HERE${'y'.repeat(500)}`, 1, 501)
  expect(source.slice(caret.indexOf('^'), caret.indexOf('^') + 4)).toBe('HERE')
  expect(source.length).toBeLessThan(220)
})
