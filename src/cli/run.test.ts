import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import { ProblemError } from '../contract/problem.ts'
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

test.each([
  [false, /^running .*, execution 7\nHow execution 7 ends is not known here\. Look at it: noetl state 7\n$/],
  [true, /^\{"execution_id":"7"\}\nHow execution 7 ends is not known here\. Look at it: noetl state 7\n$/],
])('a server that dies midway takes the id of the execution not with it; JSON: %j', async (json, words) => {
  const terminal = createRecordingTerminal()
  const client = {
    register: async () => ({ path: 'a', version: 1 }),
    execute: async () => ({ execution_id: '7' }),
    follow: () => {
      throw new ProblemError('unavailable', 'No answer from http://box')
    },
  } as unknown as Client
  const running = runPlaybook({
    flags: { file, set: [], payload: null, json },
    terminal,
    connect: async () => ({ client, close: async () => undefined }),
    interrupted: new AbortController().signal,
  })
  await expect(running).rejects.toThrow('No answer from http://box')
  expect(terminal.written()).toMatch(words)
})
