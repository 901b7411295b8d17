/** What `noetl state` asks for and how it shows an execution as it stood. */
import { describe, expect, it } from 'vitest'
import { showState } from './state.ts'
import { answering, ending, flagsOf } from './testing/history-client.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'
import { STATE_ANSWER } from './testing/state-answer.ts'

describe('noetl state', () => {
  it('asks for a place in the log and shows what stands there', async () => {
    const { history, asked } = answering('state', STATE_ANSWER)
    const terminal = createRecordingTerminal()
    const flags = await flagsOf('state', '1', '--as-of-position', '7')
    expect(await showState(flags, ending(history, ''), terminal)).toBe(0)
    expect(asked).toEqual([['1', { as_of_position: '7' }]])
    expect(terminal.written()).toBe(`tests/x RUNNING at position 7 of 9, 2026-01-01T00:00:00.000Z
rerun of 99

variables
  page = 3

steps
  a (run 2)  completed  {"n":1}
  b          running  1 of 5 done, 2 running
  c          failed  no

about to start
  d  after a

waits
  b[1]  for a worker of the pool shared
  b[2]  for w1, which holds it until 2026-01-01T00:01:00.000Z
`)
  })

  it('shows all of the data of a step that is asked for', async () => {
    const [step] = STATE_ANSWER.steps
    const text = 'long '.repeat(50)
    const { history } = answering('state', { ...STATE_ANSWER, steps: [{ ...step, run: 1, data: { text } }] })
    const terminal = createRecordingTerminal()
    await showState(await flagsOf('state', '1', '--step', 'a'), ending(history, ''), terminal)
    expect(terminal.written()).toContain('\nsteps\n  a  completed\n')
    expect(terminal.written()).toContain(`\ndata\n  {\n    "text": "${text}"\n  }\n`)
  })
})
