/** How `noetl diff` shows two executions side by side, and what it exits with. */
import { describe, expect, it } from 'vitest'
import type { DiffAnswer } from '../contract/api-history.ts'
import { diffExecutions } from './diff.ts'
import { answering, flagsOf } from './testing/history-client.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

describe('noetl diff', () => {
  const side = {
    execution_id: '1',
    path: 'tests/x',
    version: 1,
    status: 'COMPLETED',
    error: null,
    duration_ms: 1500,
    origin_execution_id: null,
    steps: 2,
  }
  const run = {
    outcome: 'completed',
    reason: null,
    duration_ms: 10,
    commands: 1,
    released: 0,
    next: [],
    error: null,
  }
  const answer: DiffAnswer = {
    same: false,
    same_definition: true,
    a: side,
    b: { ...side, execution_id: '2', status: 'FAILED', error: 'no', origin_execution_id: '1' },
    first_difference: { aspect: 'workload', step: null, run: null, text: 'workload.n is 1 and 2' },
    workload: [{ path: 'n', kind: 'changed', a: 1, b: 2 }],
    path: { only_in_a: [], only_in_b: ['c'] },
    steps: [
      { step: 'a', run: 1, differs: [], a: run, b: run, input: [], result: [] },
      {
        step: 'b',
        run: 1,
        differs: ['outcome', 'result', 'routing'],
        a: { ...run, next: ['c'] },
        b: { ...run, outcome: 'failed', duration_ms: null, error: 'no' },
        input: [],
        result: [{ path: '', kind: 'removed', a: 'x'.repeat(80), b: null }],
      },
      { step: 'c', run: 2, differs: ['path'], a: null, b: run, input: [], result: [] },
    ],
    steps_total: 3,
    steps_differing: 2,
    result: [{ path: 'rows[0]', kind: 'added', a: null, b: 1 }],
  }

  it('can be read in a terminal, and exits with 1 when they differ', async () => {
    const { history } = answering('diff', answer)
    const terminal = createRecordingTerminal()
    expect(await diffExecutions(await flagsOf('diff', '1', '2'), history, terminal)).toBe(1)
    expect(terminal.written()).toBe(`a  1  tests/x version 1  COMPLETED after 1.5 s
b  2  tests/x version 1  FAILED after 1.5 s, rerun of 1
   no

first difference  workload.n is 1 and 2

workload
  n: 1 → 2

steps
  = a          completed  10 ms → 10 ms
  ≠ b          completed → failed  10 ms → …  (outcome, result, routing)
      result "${'x'.repeat(59)}… →
      leads to c → nothing
      error none → no
  + c (run 2)  completed, only in b

result
  rows[0]: → 1
`)
  })

  it('exits with 0 when they did the same, also under another number of the version', async () => {
    const b = { ...side, execution_id: '2', version: 2 }
    const { history } = answering('diff', { ...answer, b, same: true, first_difference: null })
    const terminal = createRecordingTerminal()
    const flags = await flagsOf('diff', '1', '2')
    expect(await diffExecutions(flags, history, terminal)).toBe(0)
    expect(terminal.written()).toContain('   both versions have the same definition\n\nno difference\n')
  })
})
