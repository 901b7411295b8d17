import { describe, expect, test } from 'vitest'
import { createRunLines } from './run-lines.ts'
import type { StepRun } from './step-run.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

const run = (facts: Partial<StepRun>): StepRun => ({
  step: 'fetch',
  run: 1,
  startedAt: 0,
  status: 'completed',
  tool: 'python',
  durationMs: 1234,
  loop: null,
  error: null,
  output: '',
  errorOutput: '',
  reason: null,
  next: [],
  ...facts,
})

const plain = createRunLines(createRecordingTerminal(), ['fetch', 'a_longer_name'])
const tty = createRunLines(createRecordingTerminal({ isTTY: true, columns: 40 }), ['fetch'])

const error = {
  message: 'ValueError: no',
  code: 'PY_ValueError',
  traceback: 'Traceback:\n  line 1\n  line 2\nValueError: no\n',
}

describe('in plain words', () => {
  test.each([
    [run({}), ['ok       fetch         python     1.2 s']],
    [run({ run: 3 }), ['ok       fetch         python     1.2 s  run 3']],
    [run({ loop: { total: 5, done: 5, failed: 0 } }), ['ok       fetch         python     1.2 s  5 items']],
    [
      run({ loop: { total: 5, done: 3, failed: 1 } }),
      ['ok       fetch         python     1.2 s  3 of 5 items, 1 failed'],
    ],
    [
      run({ status: 'skipped', tool: null, durationMs: null, reason: 'guard' }),
      ['skipped  fetch                  (its condition is false)'],
    ],
    [run({ output: 'one\ntwo\n' }), ['ok       fetch         python     1.2 s', '  │ one', '  │ two']],
    [
      run({ status: 'failed', error }),
      [
        'failed   fetch         python     1.2 s',
        '  ValueError: no',
        '  Traceback:',
        '    line 1',
        '    line 2',
      ],
    ],
    [
      run({
        status: 'failed',
        output: 'one\n',
        errorOutput: `${'line\n'.repeat(11)}no such table\n`,
        error: { message: 'Command exited with code 1', code: 'EXIT_1', traceback: null },
      }),
      [
        'failed   fetch         python     1.2 s',
        '  │ one',
        '  │ … 2 more lines',
        ...Array.from({ length: 9 }, () => '  │ line'),
        '  │ no such table',
        '  Command exited with code 1',
      ],
    ],
    [run({ errorOutput: 'a warning\n' }), ['ok       fetch         python     1.2 s']],
    [
      run({ status: 'handled', error, next: ['recover'] }),
      ['failed   fetch         python     1.2 s  handled by recover', '  ValueError: no'],
    ],
  ])('%#', (given, lines) => {
    expect(plain.step(given)).toEqual(lines)
  })

  test('much output is cut at its end, a long traceback at its beginning', () => {
    const output = Array.from({ length: 40 }, (_, index) => `o${index}`).join('\n')
    expect(plain.step(run({ output })).at(-1)).toBe('  │ … 30 more lines')
    const traceback = Array.from({ length: 40 }, (_, index) => `t${index}`).join('\n')
    const lines = plain.step(run({ status: 'failed', error: { ...error, traceback } }))
    expect(lines.slice(2, 3)).toEqual(['  … 30 more lines'])
    expect(lines.at(-1)).toBe('  t39')
  })

  test('a lost worker is explained', () => {
    expect(plain.waitsAgain(run({}), 'lease_expired', 1)).toContain(
      'waits again after attempt 1: its worker stopped answering',
    )
  })
})

describe('at a terminal', () => {
  test('a symbol stands for the status', () => {
    expect(tty.step(run({}))).toEqual(['  ✓ fetch    python     1.2 s'])
  })

  test('the live line shows everything that runs', () => {
    const loop = run({ loop: { total: 4, done: 1, failed: 0 } })
    expect(tty.live([loop], 500, 0)).toBe('  ⠋ fetch ████░░░░░░░░░░░░ 1/4 500 ms')
  })

  test('the bar is full when items were counted again', () => {
    const loop = run({ loop: { total: 2, done: 3, failed: 0 } })
    expect(tty.live([loop], 500, 0)).toBe(`  ⠋ fetch ${'█'.repeat(16)} 3/2 500 ms`)
  })

  test('the live line never wraps', () => {
    const many = Array.from({ length: 30 }, () => run({}))
    expect(tty.live(many, 0, 0)).toHaveLength(39)
  })
})
