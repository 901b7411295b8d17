import { expect, test } from 'vitest'
import { ProblemError } from '../contract/problem.ts'
import { Reported, reportFailure } from './failure.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

const report = (error: unknown, debug = false) => {
  const terminal = createRecordingTerminal()
  return { exitCode: reportFailure(error, terminal, debug), text: terminal.written() }
}

test('an expected failure is one line', () => {
  expect(report(new ProblemError('conflict', 'Port 1 is taken.'))).toEqual({
    exitCode: 1,
    text: 'error: Port 1 is taken.\n',
  })
})

test('what was asked for wrongly ends with 2', () => {
  expect(report(new ProblemError('invalid', 'x')).exitCode).toBe(2)
})

test('a failure that was printed already is not printed again', () => {
  expect(report(new Reported(7))).toEqual({ exitCode: 7, text: '' })
})

test('an unexpected failure shows no stack trace but says how to get one', () => {
  const { exitCode, text } = report(new TypeError('x is undefined'))
  expect(exitCode).toBe(1)
  expect(text).toBe('error: unexpected: x is undefined\nNOETL_DEBUG=1 shows where this came from.\n')
})

test('with debug the place and the causes are shown', () => {
  const { text } = report(new ProblemError('internal', 'outer', { cause: new Error('inner') }), true)
  expect(text).toMatch(/outer[^]*at [^]*caused by Error: inner/)
})
