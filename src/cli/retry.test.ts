/** What `noetl retry` sends and says. */
import { describe, expect, it } from 'vitest'
import { retryExecution } from './retry.ts'
import { answering, ending, flagsOf, WAITING } from './testing/history-client.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

describe('noetl retry', () => {
  it('names the steps and says what runs', async () => {
    const { history, asked } = answering('retry', { steps: ['b'], commands_generated: 1 })
    const terminal = createRecordingTerminal()
    const flags = await flagsOf('retry', '1', '--step', 'b', '--reason', 'fixed', '--var', 'x=1')
    expect(await retryExecution(flags, ending(history, 'COMPLETED'), terminal, WAITING)).toBe(0)
    expect(asked).toEqual([['1', { steps: ['b'], variables: { x: 1 }, reason: 'fixed' }]])
    expect(terminal.written()).toBe('execution 1 runs again, 1 command: b\n')
  })
})
