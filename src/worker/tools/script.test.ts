import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { JsonObject } from '../../contract/json.ts'
import { aCall } from '../test-support.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import { createPythonTool } from './python.ts'
import { createScriptTool } from './script.ts'
import { createShellTool } from './shell.ts'

const env = { PATH: process.env['PATH'] }
const python = createPythonTool({ env, maxInterpreters: 2 })
const server = createServer((_, answer) => answer.end('echo over http'))
let directory: string
let tool: Tool

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'noetl-script-'))
  tool = createScriptTool({ python, shell: createShellTool({ env }), container: null, directory })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(async () => {
  await python.close()
  server.close()
  await rm(directory, { recursive: true, force: true })
})

const run = async (config: JsonObject, over: Parameters<typeof aCall>[1] = {}): Promise<ToolResult> =>
  tool.run(aCall(config, over))
const output = async (config: JsonObject, input: JsonObject = {}): Promise<unknown> => {
  const result = await run(config, { input })
  expect(result.error).toBeUndefined()
  return (result.data as JsonObject)['output']
}

describe('the script (rule 1)', () => {
  test('is written in place, and its language is its type', async () => {
    expect(await output({ script: { type: 'python', content: 'print(6 * 7)' } })).toBe('42\n')
    expect(await output({ script: { type: 'bash', content: 'echo "${BASH_VERSION:+bash}"' } })).toBe('bash\n')
    expect(await output({ script: 'import sys\nprint(sys.version_info.major)' })).toBe('3\n')
    expect(await output({ code: 'print("code")' })).toBe('code\n')
  })

  test('is a file whose ending says the language', async () => {
    await writeFile(join(directory, 'a.sh'), 'echo "from a file"')
    await writeFile(join(directory, 'b'), '#!/usr/bin/env bash\necho "${BASH_VERSION:+bash}"')
    expect(await output({ script: 'a.sh' })).toBe('from a file\n')
    expect(await output({ script: { uri: 'a.sh' } })).toBe('from a file\n')
    expect(await output({ script: { uri: 'b' } })).toBe('bash\n')
  })

  test('is behind an address', async () => {
    const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.sh`
    expect(await output({ script: { uri } })).toBe('over http\n')
  })

  test.each<[JsonObject, string]>([
    [{}, 'script'],
    [{ script: { type: 'perl', content: 'x' } }, 'python, bash or sh'],
    [{ script: { type: 'gcs', uri: 'gs://b/x.py' } }, 'gcs'],
    [{ script: { uri: 'nowhere.py' } }, 'nowhere.py'],
    [{ script: { content: 'x' }, job: { env: ['A'] } }, 'job.env'],
  ])('%j is a mistake that is named', async (config, text) => {
    const { error } = await run(config)
    expect(error).toMatchObject({ kind: 'config', retryable: false })
    expect(error?.message).toContain(text)
  })
})

test('input and environment reach the script (rule 4)', async () => {
  const job = { env: [{ name: 'B', value: 2 }] }
  const shell = { script: { type: 'sh', content: 'echo "$A $B $C"' }, job, env: { C: 3 } }
  expect(await output(shell, { A: { x: 1 } })).toBe('{"x":1} 2 3\n')
  const code = 'import os\nprint(a["x"], os.environ["B"])'
  expect(await output({ script: { content: code }, job }, { a: { x: 1 } })).toBe('1 2\n')
})

describe('the data (rule 3)', () => {
  test('has the fields of a job', async () => {
    const { data } = await run({
      script: { content: 'print("x")\nresult = {"n": 1}' },
      job: { namespace: 'etl' },
    })
    expect(data).toMatchObject({
      status: 'completed',
      exit_code: 0,
      succeeded: 1,
      failed: 0,
      stdout: 'x\n',
      result: { n: 1 },
      namespace: 'etl',
    })
  })

  test('is there after a failure', async () => {
    const shell = await run({ script: { type: 'sh', content: 'echo half; exit 3' } })
    expect(shell).toMatchObject({ outcome: 'error', error: { kind: 'process', code: 'EXIT_3' } })
    expect(shell.data).toMatchObject({ status: 'failed', exit_code: 3, failed: 1, output: 'half\n' })
    const code = await run({ script: { content: 'print("half")\nraise KeyError("k")' } })
    expect(code).toMatchObject({ error: { kind: 'schema', code: 'PY_KeyError' } })
    expect(code.data).toMatchObject({ status: 'failed', output: 'half\n' })
  })
})

test('job.timeout ends the script', async () => {
  const { error } = await run({ script: { type: 'sh', content: 'sleep 60' }, job: { timeout: 0.1 } })
  expect(error).toMatchObject({ kind: 'timeout', retryable: true })
})

describe('a container (rule 2)', () => {
  test('is run only when it is asked for', async () => {
    const config = { script: { content: 'print(1)' }, job: { image: 'python:3.12-slim', run: 'container' } }
    expect((await run(config)).error).toMatchObject({ code: 'TOOL_UNAVAILABLE', retryable: false })
    const calls: ToolCall[] = []
    const container: Tool = {
      kind: 'container',
      instant: false,
      run(call) {
        calls.push(call)
        return { outcome: 'ok', data: { stdout: '1\n', stderr: '' }, stdout: '1\n' }
      },
    }
    const able = createScriptTool({ python, shell: createShellTool({ env }), container })
    const result = await able.run(aCall(config, { input: { A: 1 } }))
    expect(result.data).toMatchObject({ status: 'completed', output: '1\n' })
    expect(calls[0]?.config).toEqual({
      image: 'python:3.12-slim',
      command: ['python', '-c', 'print(1)'],
      env: [{ name: 'A', value: '1' }],
    })
  })
})
