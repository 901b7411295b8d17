/** What `noetl export` prints or writes: a whole file or none. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { exportExecution } from './export.ts'
import { answering, flagsOf } from './testing/history-client.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

describe('noetl export', () => {
  const directory = mkdtempSync(join(tmpdir(), 'noetl-cli-'))
  afterAll(() => rmSync(directory, { recursive: true }))
  const FILE = '{"type":"header"}\n{"type":"event","text":"ü"}\n{"type":"end"}\n'
  /** Cut at places that are no ends of lines, also within a character. */
  const pieces = async function* (text: string): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7)
  }

  it('prints the file as it is', async () => {
    const { history, asked } = answering('export', pieces(FILE))
    const terminal = createRecordingTerminal()
    const flags = await flagsOf('export', '1', '--with-children', '--include-secrets')
    expect(await exportExecution(flags, history, terminal)).toBe(0)
    expect(asked).toEqual([['1', { with_children: 'true', include_secrets: 'true' }]])
    expect(terminal.written()).toBe(FILE)
  })

  it('writes it to a file, which appears only when it is whole', async () => {
    const output = join(directory, 'whole.ndjson')
    const whole = answering('export', pieces(FILE))
    await exportExecution(
      await flagsOf('export', '1', '-o', output),
      whole.history,
      createRecordingTerminal(),
    )
    expect(readFileSync(output, 'utf8')).toBe(FILE)
    const broken = answering('export', pieces(FILE.slice(0, 30)))
    const flags = {
      command: 'export',
      execution: '1',
      withChildren: false,
      includeSecrets: false,
      output: join(directory, 'broken'),
    } as const
    await expect(exportExecution(flags, broken.history, createRecordingTerminal())).rejects.toThrow(
      'The export broke off',
    )
    expect(readdirSync(directory)).toEqual(['whole.ndjson'])
    const nowhere = { ...flags, output: join(directory, 'no', 'such', 'place') }
    const unwritten = answering('export', pieces(FILE))
    await expect(exportExecution(nowhere, unwritten.history, createRecordingTerminal())).rejects.toThrow(
      `${nowhere.output} cannot be written: ENOENT`,
    )
  })

  it('ends with the reader that went away, and is no failure then', async () => {
    let given = 0
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      for (;;) {
        given += 1
        yield Buffer.from('{"type":"event"}\n')
      }
    }
    const terminal = { ...createRecordingTerminal(), abandoned: AbortSignal.abort() }
    const { history } = answering('export', endless())
    expect(await exportExecution(await flagsOf('export', '1'), history, terminal)).toBe(0)
    expect(given).toBe(1)
  })

  it('is printed where the file is called -', async () => {
    const { history } = answering('export', pieces(FILE))
    const terminal = createRecordingTerminal()
    expect(await exportExecution(await flagsOf('export', '1', '-o', '-'), history, terminal)).toBe(0)
    expect(terminal.written()).toBe(FILE)
  })
})
