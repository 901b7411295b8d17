/** What `noetl rerun` sends, what it refuses, and what it exits with. */
import { describe, expect, it } from 'vitest'
import type { HistoryClient } from '../client/history.ts'
import { rerunExecution } from './rerun.ts'
import { answering, ending, flagsOf, WAITING } from './testing/history-client.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'
import { STATE_ANSWER } from './testing/state-answer.ts'

/** The same, of an execution that stands somewhere. */
const withState = (history: HistoryClient): HistoryClient => ({
  ...history,
  state: () => Promise.resolve({ ...STATE_ANSWER, workload: { n: 1, name: 'Eve' } }),
})

describe('noetl rerun', () => {
  const started = { execution_id: '2', kept_steps: ['a'], dropped_steps: [], status: 'started' }

  it('sends the place and the edits', async () => {
    const { history, asked } = answering('rerun', started)
    const terminal = createRecordingTerminal()
    const flags = await flagsOf(
      'rerun',
      '1',
      '--from-step',
      'b',
      '--playbook-version',
      '3',
      '--set',
      'n=5',
      '--set',
      'name=Ada',
      '--var',
      'page=[1]',
    )
    expect(await rerunExecution(flags, ending(withState(history), 'COMPLETED'), terminal, WAITING)).toBe(0)
    expect(asked).toEqual([
      ['1', { from: { step: 'b' }, version: '3', workload: { n: 5, name: 'Ada' }, variables: { page: [1] } }],
    ])
    expect(terminal.written()).toBe('execution 2, a rerun of 1\nkept     a\n')
  })

  it('waits for the end when asked to, and exits with it', async () => {
    const { history, asked } = answering('rerun', started)
    const terminal = createRecordingTerminal()
    const flags = await flagsOf('rerun', '1', '--wait', '--from', 'failed', '--json')
    expect(await rerunExecution(flags, ending(withState(history), 'FAILED', 'no'), terminal, WAITING)).toBe(1)
    expect(asked).toEqual([['1', { from: 'failed' }]])
    expect(JSON.parse(terminal.written())).toEqual({
      ...started,
      status: 'FAILED',
      result: null,
      error: 'no',
      steps: [],
    })
  })

  it.each([
    [
      ['--from', 'failed', '--from-step', 'b'],
      'Give one of --from, --from-step and --from-event, not several',
    ],
    [['--from', 'middle'], "--from middle: it is 'start' or 'failed'"],
    [['--from-event', 'x'], "--from-event must be a whole number, got 'x'"],
    [['--playbook-version', 'x'], "--playbook-version must be a whole number or 'latest', got 'x'"],
    [['--set', 'a.b=1'], "--set a.b=1: give the whole of 'a'"],
  ])('refuses %j', async (args, message) => {
    const { history } = answering('rerun', started)
    const flags = await flagsOf('rerun', '1', ...args)
    await expect(
      rerunExecution(flags, ending(history, 'COMPLETED'), createRecordingTerminal(), WAITING),
    ).rejects.toThrow(message)
  })
})
