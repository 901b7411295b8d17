/** What `noetl explain` asks for and prints. */
import { describe, expect, it } from 'vitest'
import { explainStep } from './explain.ts'
import { answering, flagsOf } from './testing/history-client.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

describe('noetl explain', () => {
  it('prints the text, or all of it as JSON', async () => {
    const { history, asked } = answering('explain', { text: 'b ran', verdict: 'completed' })
    const terminal = createRecordingTerminal()
    expect(await explainStep(await flagsOf('explain', '1', 'b', '--run', '2'), history, terminal)).toBe(0)
    expect(asked).toEqual([['1', { step: 'b', run: '2' }]])
    await explainStep(await flagsOf('explain', '1', 'b', '--json'), history, terminal)
    expect(terminal.written()).toMatch(/^b ran\n\{\n {2}"text"/)
  })
})
