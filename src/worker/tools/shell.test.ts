import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'

import type { JsonObject } from '../../contract/json.ts'
import { aCall } from '../test-support.ts'
import { timeoutFailure } from '../time-limit.ts'
import { ToolFailure } from '../tool-failure.ts'
import type { ToolResult } from '../tool.ts'
import { createShellTool } from './shell.ts'

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'noetl-shell-')))
afterAll(() => rmSync(directory, { recursive: true }))

const env = { PATH: process.env['PATH'], SURROUNDINGS: 'yes' }
const tool = createShellTool({ env, directory })
const run = (config: JsonObject): Promise<ToolResult> => tool.run(aCall(config))
const stdoutOf = async (config: JsonObject): Promise<unknown> => {
  const result = await run(config)
  expect(result.error).toBeUndefined()
  return (result.data as JsonObject)['stdout']
}
/** A process that ended and waits for someone to ask for its exit code is not alive. */
const isAlive = (pid: number): boolean => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.startsWith('Z')
}

describe('a command', () => {
  test('answers its exit code and what it printed (rule 1)', async () => {
    expect(await run({ command: 'echo out; echo err >&2' })).toEqual({
      outcome: 'ok',
      data: { exit_code: 0, returncode: 0, stdout: 'out\n', stderr: 'err\n' },
      stdout: 'out\n',
      stderr: 'err\n',
      exitCode: 0,
    })
  })

  test('that fails is an error by its exit code, with its output (rules 1, 2)', async () => {
    expect(await run({ command: 'echo some; exit 3' })).toMatchObject({
      outcome: 'error',
      error: { kind: 'process', code: 'EXIT_3', message: 'Command exited with code 3', retryable: false },
      data: { exit_code: 3, returncode: 3, stdout: 'some\n' },
      exitCode: 3,
    })
  })

  test('that a signal ended says which', async () => {
    expect(await run({ command: 'kill -9 $$' })).toMatchObject({
      error: { kind: 'process', code: 'EXIT_137', message: 'Command was ended by signal SIGKILL' },
      data: { exit_code: 137, signal: 'SIGKILL' },
    })
  })

  test('that prints JSON gives it as a value, with every digit', async () => {
    const { data } = await run({ command: 'echo \'{"id": 9007199254740993}\'' })
    expect(data).toMatchObject({ json: { id: '9007199254740993' } })
    expect((await run({ command: 'echo plain' })).data).not.toHaveProperty('json')
  })

  test.each<[string, JsonObject, string]>([
    ['a text', { command: 'false; echo on' }, 'on\n'],
    ['cmd', { cmd: 'false; echo on' }, 'on\n'],
    ['a list that shares one shell', { cmds: ['cd /', 'x=1', 'echo $PWD$x'] }, '/1\n'],
    ['lines', { cmds: 'x=1\necho $x' }, '1\n'],
    ['a number', { command: ['echo', 5].join(' ') }, '5\n'],
    ['a script as text', { script: 'echo script' }, 'script\n'],
    ['a script in place', { script: { source: { type: 'inline', code: 'echo inline' } } }, 'inline\n'],
  ])('can be %s', async (_name, config, stdout) => {
    expect(await stdoutOf(config)).toBe(stdout)
  })

  test('can be a script in a file', async () => {
    writeFileSync(join(directory, 'hello.sh'), 'echo from file')
    expect(await stdoutOf({ script: { uri: 'hello.sh', source: { type: 'file' } } })).toBe('from file\n')
  })

  test.each<[string, JsonObject]>([
    ['cmds as a list', { cmds: ['echo one', 'exit 4', 'echo two'] }],
    ['cmds as a list with a failing command', { cmds: ['echo one', '(exit 4)', 'echo two'] }],
    ['cmds as lines', { cmds: 'echo one\n(exit 4)\necho two' }],
    ['command as a list', { command: ['echo one', '(exit 4)', 'echo two'] }],
  ])('stops at the first failure: %s', async (_name, config) => {
    expect(await run(config)).toMatchObject({ error: { code: 'EXIT_4' }, data: { stdout: 'one\n' } })
  })

  test('may be longer than an argument can be', async () => {
    expect(await stdoutOf({ command: `x='${'é'.repeat(150_000)}'; echo \${#x}; cat`, stdin: 'in' })).toMatch(
      /00\nin$/,
    )
  })

  test('sees the environment of tools and its own, and nothing of the worker (rule 4)', async () => {
    process.env['WORKER_SECRET'] = 's3cret'
    const config = { command: 'echo "$SURROUNDINGS-$NUMBER-$FLAG-$LIST-$WORKER_SECRET"' }
    expect(await stdoutOf({ ...config, env: { NUMBER: 5, FLAG: true, LIST: [1] } })).toBe('yes-5-true-[1]-\n')
    expect(await stdoutOf({ ...config, env: { SURROUNDINGS: null } })).toBe('----\n')
    delete process.env['WORKER_SECRET']
  })

  test('runs where it is told, in the shell it is told, with the input it is given', async () => {
    expect(await stdoutOf({ command: 'pwd' })).toBe(`${directory}\n`)
    expect(await stdoutOf({ command: 'pwd', cwd: '/' })).toBe('/\n')
    expect(await stdoutOf({ command: 'echo $0', shell: '/bin/sh -c' })).toBe('/bin/sh\n')
    expect(await stdoutOf({ command: 'cat', stdin: { a: 1 } })).toBe('{"a":1}')
    expect(await stdoutOf({ command: 'cat' })).toBe('')
    expect(await stdoutOf({ command: 'true', stdin: 'x'.repeat(1_000_000) })).toBe('')
  })

  test.each<[string, JsonObject, string]>([
    ['nothing to run', {}, 'CONFIG'],
    ['an empty list', { cmds: [] }, 'CONFIG'],
    ['no such directory', { command: 'true', cwd: '/no/such' }, 'CONFIG'],
    ['no such shell', { command: 'true', shell: 'no-such-shell' }, 'PROGRAM_NOT_FOUND'],
    ['a strange variable', { command: 'true', env: { 'a=b': '1' } }, 'CONFIG'],
    ['a script that is not there', { script: { uri: 'none.sh' } }, 'CONFIG'],
  ])('is refused: %s', async (_name, config, code) => {
    expect((await run(config)).error).toMatchObject({ kind: 'config', code, retryable: false })
  })
})

describe('output', () => {
  test('is shown while the command runs', async () => {
    const seen: string[] = []
    let finish: (() => void) | undefined
    const first = new Promise<void>((resolve) => (finish = resolve))
    const log = (stream: string, text: string): void => {
      seen.push(`${stream}:${text}`)
      finish?.()
    }
    const command = `echo early; while [ ! -e go ]; do sleep 0.01; done; echo late >&2`
    const running = tool.run(aCall({ command }, { log }))
    await first
    expect(seen).toEqual(['stdout:early\n'])
    writeFileSync(join(directory, 'go'), '')
    await running
    expect(seen).toEqual(['stdout:early\n', 'stderr:late\n'])
  })

  test('above the limit is cut, with a note (rule 3)', async () => {
    const { data, stdout } = await run({ command: 'yes 0123456789 | head -c 3000000' })
    expect(stdout).toContain('[1951424 bytes of output were dropped]')
    expect(stdout?.length).toBeLessThan(1_048_700)
    expect((data as JsonObject)['stdout']).toBe(stdout)
  })

  test('is not kept with capture off', async () => {
    expect(await run({ command: 'echo much', capture: false })).toMatchObject({
      data: { stdout: '', stderr: '' },
    })
  })
})

describe('the end', () => {
  /** Prints the id of a grandchild that would live for a minute. */
  const GRANDCHILD = `sh -c 'sleep 60 & echo $!; wait'`

  const abortAfterOutput = async (command: string, reason: ToolFailure): Promise<[ToolResult, number]> => {
    const controller = new AbortController()
    let pid = 0
    const log = (_stream: string, text: string): void => {
      pid = Number(text.trim())
      controller.abort(reason)
    }
    return [await tool.run(aCall({ command }, { signal: controller.signal, log })), pid]
  }

  test('by timeout takes the grandchildren along and keeps the output (rule 5)', async () => {
    const [result, pid] = await abortAfterOutput(GRANDCHILD, timeoutFailure(10))
    expect(result.error).toMatchObject({ kind: 'timeout', code: 'TIMEOUT', retryable: true })
    expect(result.data).toMatchObject({ stdout: `${pid}\n`, signal: 'SIGTERM' })
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  test('by cancellation reports the reason', async () => {
    const reason = new ToolFailure({
      kind: 'cancelled',
      code: 'CANCELLED',
      message: 'gone',
      retryable: false,
    })
    const [result, pid] = await abortAfterOutput(GRANDCHILD, reason)
    expect(result.error?.code).toBe('CANCELLED')
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  test('comes by force when a command does not listen', async () => {
    const [result, pid] = await abortAfterOutput(
      `trap '' TERM; echo $$; sleep 60; sleep 60`,
      timeoutFailure(10),
    )
    expect(result.data).toMatchObject({ signal: 'SIGKILL' })
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  test('leaves time to clean up', async () => {
    const command = `trap 'sleep 0.2; echo cleaned; exit 9' TERM; echo 1; sleep 60 & wait`
    const [result] = await abortAfterOutput(command, timeoutFailure(10))
    expect(result.data).toMatchObject({ exit_code: 9, stdout: '1\ncleaned\n' })
  })

  test('of the command is the end of what it left behind', async () => {
    const pid = Number(await stdoutOf({ command: 'sleep 60 & echo $!' }))
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  test('is there before the start when the command is not wanted any more', async () => {
    const signal = AbortSignal.abort(timeoutFailure(10))
    const result = await tool.run(aCall({ command: 'touch never' }, { signal }))
    expect(result.error?.code).toBe('TIMEOUT')
  })
})
