/** `noetl run`: what it prints and its exit code, on a server of its own and on one that is up. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { processesOn } from '../support/embedded-postgres.ts'
import type { Server } from './noetl-process.ts'
import {
  createGate,
  noetl,
  REPOSITORY,
  startNoetl,
  startServer,
  temporaryDirectory,
} from './noetl-process.ts'

const files = temporaryDirectory()

const fileWith = (name: string, text: string): string => {
  const file = join(files, name)
  writeFileSync(file, text)
  return file
}

const playbook = (workflow: string): string => `apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: test, path: test/run }
workload: { city: { name: Oslo, people: 700000 }, greeting: "hi {{ city.name }}" }
workflow:
${workflow}
`

const ECHO = fileWith(
  'echo.yaml',
  playbook('  - step: start\n    tool: { kind: noop, result: "{{ workload }}" }'),
)
const FAILING = fileWith(
  'failing.yaml',
  playbook(`  - step: start
    tool:
      kind: python
      code: |
        print("before")
        def inner():
            raise KeyError("nothing here")
        inner()
    next: after
  - step: after
    tool: { kind: noop }`),
)

describe('on a server started for the run', () => {
  const dataDir = temporaryDirectory()
  const run = (...args: string[]) => noetl(['run', ...args, '--data-dir', dataDir])

  test('a completed execution: steps, result, summary, exit code 0, nothing left running', async () => {
    const { exitCode, stdout } = await run(join(REPOSITORY, 'examples/hello.yaml'), '--set', 'name=Grace')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(
      /^running +examples\/hello .*execution \d+\nok +start +shell +[\d.]+ m?s\n .*Hello, Grace!\nok +end /,
    )
    expect(stdout).toMatch(/\nresult\nHello, Grace!\ncompleted after .*, 2 steps\n$/)
    expect(processesOn(dataDir)).toEqual([])
  })

  test('a failed execution: the message, the end of the traceback, exit code 1', async () => {
    const { exitCode, stdout } = await run(FAILING)
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/^failed +start +python/m)
    expect(stdout).toContain("KeyError: 'nothing here'")
    expect(stdout).toContain('line 3, in inner')
    expect(stdout).toMatch(/^skipped +after +\(a step before it failed\)$/m)
    expect(stdout).toMatch(/^failed after .*: Step 'start' failed: KeyError/m)
  })

  test('with --json stdout is one document, whatever the outcome', async () => {
    const { exitCode, stdout } = await run(FAILING, '--json')
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      execution_id: expect.stringMatching(/^\d+$/),
      status: 'FAILED',
      error: expect.stringContaining('KeyError'),
      steps: [
        { step: 'start', status: 'failed', error: { code: 'PY_KeyError' } },
        { step: 'after', status: 'skipped' },
      ],
    })
  })

  test('two runs on one directory at once wait for each other', async () => {
    const results = await Promise.all([run(ECHO, '--json'), run(ECHO, '--json')])
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0])
  })

  test('Ctrl-C cancels the execution: exit code 3', async () => {
    const gate = createGate()
    const started = startNoetl(['run', fileWith('gate.yaml', gate.playbook), '--data-dir', dataDir])
    await gate.untilBegun(1)
    started.kill('SIGINT')
    const { exitCode, stdout } = await started.finished
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/^stopped +start/m)
    expect(stdout).toMatch(/^cancelled after/m)
    expect(processesOn(dataDir)).toEqual([])
  })
})

describe('on a server that is up', () => {
  const dataDir = temporaryDirectory()
  let server: Server

  beforeAll(async () => {
    server = await startServer(dataDir, ['--no-examples'])
  })

  test('it is found by its data directory, whatever its port', async () => {
    const { exitCode, stdout } = await noetl(['run', ECHO, '--json', '--data-dir', dataDir])
    expect(exitCode).toBe(0)
    const { execution_id: id } = JSON.parse(stdout) as { execution_id: string }
    expect((await fetch(`${server.url}/api/executions/${id}/status`)).status).toBe(200)
  })

  test('it is found by the environment', async () => {
    const { exitCode } = await noetl(['run', ECHO], { env: { NOETL_SERVER_URL: server.url } })
    expect(exitCode).toBe(0)
  })

  test.each([
    [['--set', 'city.name=Bergen'], { city: { name: 'Bergen', people: 700000 }, greeting: 'hi Bergen' }],
    [['--set', 'city={"name": "A"}'], { city: { name: 'A' } }],
    [['--set', 'n=1', '--set', 't=1a', '--set', 'q="1"', '--set', 'e='], { n: 1, t: '1a', q: '1', e: '' }],
    [['--payload', '{"a": {"b": 1}}', '--set', 'a.c=2'], { a: { b: 1, c: 2 } }],
    [['--payload', `@${fileWith('payload.json', '{"from": "file"}')}`], { from: 'file' }],
  ])('%j reaches the playbook', async (flags, workload) => {
    const { stdout } = await noetl(['run', ECHO, '--json', '--server', server.url, ...flags])
    expect((JSON.parse(stdout) as { result: unknown }).result).toMatchObject(workload)
  })

  test('an execution that fails before its first step runs is shown and ends with 1', async () => {
    const file = fileWith(
      'unrenderable.yaml',
      playbook('  - step: start\n    tool: { kind: noop, result: "{{ 1 / 0 }}" }'),
    )
    const { exitCode, stdout } = await noetl(['run', file, '--server', server.url])
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/^failed after .*division by zero/m)
  })

  test('a result that the server stores apart is printed whole, and so is the data of its step', async () => {
    const file = fileWith(
      'large.yaml',
      playbook(`  - step: start\n    tool: { kind: python, code: "result = {'text': 'x' * 200000}" }`),
    )
    const whole = { text: 'x'.repeat(200_000) }
    const { stdout } = await noetl(['run', file, '--json', '--server', server.url])
    const { execution_id: id, result } = JSON.parse(stdout) as { execution_id: string; result: unknown }
    expect(result).toEqual(whole)
    const state = await noetl(['state', id, '--step', 'start', '--json', '--server', server.url])
    expect(JSON.parse(state.stdout)).toMatchObject({ steps: [{ step: 'start', data: whole }] })
  })

  test('a cancel from elsewhere ends the run with exit code 3', async () => {
    const gate = createGate()
    const started = startNoetl(['run', fileWith('gate-2.yaml', gate.playbook), '--server', server.url])
    const [, id = ''] = await started.printed(/execution (\d+)/)
    await gate.untilBegun(1)
    await fetch(`${server.url}/api/executions/${id}/cancel`, { method: 'POST' })
    expect((await started.finished).exitCode).toBe(3)
  })
})

describe('what cannot be run starts nothing and exits with 2', () => {
  const dataDir = join(files, 'never-made')
  const refused = async (...args: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await noetl(['run', ...args, '--data-dir', dataDir])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).not.toMatch(/^\s+at /m)
    return stderr
  }

  test('an invalid playbook: every problem with its place, line and caret', async () => {
    const file = fileWith(
      'invalid.yaml',
      playbook(
        '  - step: start\n    tool: { kind: noop }\n    next: [ed, stat]\n  - step: end\n    tool: { kind: noop }',
      ),
    )
    const text = await refused(file)
    expect(text).toContain(`${file}:8:12: error Step 'start': 'next[0]' leads to 'ed'`)
    expect(text).toContain(`${file}:8:16: error`)
    expect(text).toContain('  8 |     next: [ed, stat]\n    |            ^\n')
    expect(text).toMatch(/error: .*invalid\.yaml is not a valid playbook: 2 errors, nothing was run\n$/)
  })

  test('text that is not YAML', async () => {
    const file = fileWith('broken.yaml', 'a: [1\nb: 2\n')
    expect(await refused(file)).toContain(`${file}:`)
  })

  test('a missing file', async () => {
    expect(await refused('nowhere.yaml')).toBe('error: nowhere.yaml does not exist\n')
  })

  test.each([
    [['--set', 'x'], '--set x: write it as key=value'],
    [['--set', 'a..b=1'], "--set a..b=1: 'a..b' is not a key"],
    [['--payload', '{"a":'], '--payload is not JSON'],
    [['--payload', '[1]'], '--payload must be a JSON object'],
    [['--payload', '@nowhere.json'], 'nowhere.json does not exist'],
    [['--payload', '{"a": 1}', '--set', 'a.b=2'], "--set a.b=2: there is no 'b' inside 1"],
    [['--server', 'nonsense'], "'nonsense' is not the address of a server"],
  ])('%j', async (flags, message) => {
    expect(await refused(ECHO, ...flags)).toContain(message)
  })
})

test('a named server that does not answer is an error, no other is tried', async () => {
  const { exitCode, stderr } = await noetl(['run', ECHO, '--server', 'http://127.0.0.1:9'])
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/^error: No answer from http:\/\/127\.0\.0\.1:9/)
})
