import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runPlaybook } from './run.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

const directory = mkdtempSync(join(tmpdir(), 'noetl-run-'))
afterAll(() => rmSync(directory, { recursive: true }))

const file = join(directory, 'greet.yaml')
writeFileSync(
  file,
  'apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: a }\nworkload: { name: world }\nworkflow:\n  - step: start\n    tool: { kind: noop }\n',
)

/** What is said before a server is asked for. */
const saidFor = async (set: readonly string[]): Promise<string> => {
  const terminal = createRecordingTerminal()
  const running = runPlaybook({
    flags: { file, set, payload: null, json: false },
    terminal,
    connect: () => Promise.reject(new Error('no server here')),
    interrupted: new AbortController().signal,
  })
  await expect(running).rejects.toThrow('no server here')
  return terminal.written()
}

test('a value that resembles one of the workload is most likely misspelt, which is said', async () => {
  expect(await saidFor(['nmae=Ada'])).toBe(
    "warning: the workload of the playbook has no 'nmae'. Did you mean 'name'?\n",
  )
})

test('a value of the workload, and one that resembles none, are taken as they are', async () => {
  expect(await saidFor(['name=Ada', 'colour=red'])).toBe('')
})
