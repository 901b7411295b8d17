/** What `noetl import` sends, and what it says came of it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, describe, expect, it } from 'vitest'
import { importExecution } from './import.ts'
import { answering, flagsOf } from './testing/history-client.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

describe('noetl import', () => {
  const directory = mkdtempSync(join(tmpdir(), 'noetl-cli-'))
  afterAll(() => rmSync(directory, { recursive: true }))

  it('sends a file and says what came of it', async () => {
    const file = join(directory, 'sent.ndjson')
    writeFileSync(file, '{"type":"header"}\n{"type":"event"}\n{"type":"end"}\n')
    const { history, asked } = answering('import', {
      status: 'imported',
      execution_id: '1',
      executions: ['1'],
      events: 1,
      results: 0,
      resumed_as: '2',
    })
    const terminal = createRecordingTerminal()
    expect(await importExecution(await flagsOf('import', file, '--resume'), history, terminal)).toBe(0)
    const [[bytes, query]] = asked as [[Readable, unknown]]
    expect([bytes instanceof Readable, query]).toEqual([true, { resume: 'true' }])
    expect(terminal.written()).toBe(
      'imported execution 1: 1 execution, 1 event, 0 results\nit goes on as execution 2\n',
    )
    bytes.destroy()
  })

  it('sends no directory', async () => {
    const { history, asked } = answering('import', {})
    const importing = importExecution(await flagsOf('import', directory), history, createRecordingTerminal())
    await expect(importing).rejects.toThrow(`${directory} is a directory, not a file`)
    expect(asked).toEqual([])
  })

  it('names a file that does not exist', async () => {
    const { history } = answering('import', {})
    const flags = { command: 'import', file: join(directory, 'none'), resume: false, json: false } as const
    await expect(importExecution(flags, history, createRecordingTerminal())).rejects.toThrow(
      'none does not exist',
    )
  })
})
