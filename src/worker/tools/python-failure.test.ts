import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import type { JsonObject } from '../../contract/json.ts'
import { aCall } from '../test-support.ts'
import { timeoutFailure } from '../time-limit.ts'
import type { ToolResult } from '../tool.ts'
import { createPythonTool } from './python.ts'

const tool = createPythonTool({ env: process.env, python: process.env['NOETL_PYTHON'] ?? 'python3' })
const directory = mkdtempSync(join(tmpdir(), 'noetl-python-failure-'))
afterAll(async () => {
  await tool.close()
  rmSync(directory, { recursive: true })
})

const run = (config: JsonObject | string): Promise<ToolResult> =>
  Promise.resolve(tool.run(aCall(typeof config === 'string' ? { code: config } : config)))

/** The time of a call that runs out as soon as it has printed something. */
const timeOutOncePrinted = (code: string): Promise<ToolResult> => {
  const controller = new AbortController()
  const log = (): void => controller.abort(timeoutFailure(400))
  return Promise.resolve(tool.run(aCall({ code }, { signal: controller.signal, log })))
}

/** Dead, or dead and not yet reaped by whoever inherited it. */
const isGone = (pid: number): boolean => {
  const state = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)])
    .stdout.toString()
    .trim()
  return state === '' || state.startsWith('Z')
}

const untilGone = (pid: number): Promise<void> => expect.poll(() => isGone(pid)).toBe(true)

describe('an exception', () => {
  test('is an error with its type, text and the lines of the user’s code', async () => {
    const result = await run('def divide(x):\n    return 1 / x\n\nprint("before")\ndivide(0)')
    expect(result).toMatchObject({
      outcome: 'error',
      exitCode: 1,
      data: { stdout: 'before\n', stderr: '' },
      error: {
        kind: 'runtime',
        code: 'PY_ZeroDivisionError',
        message: 'ZeroDivisionError: division by zero',
        exception: 'ZeroDivisionError',
        retryable: false,
      },
    })
    expect(result.error?.traceback).toMatch(
      /^Traceback \(most recent call last\):\n {2}File "<step try_it>", line 5, in <module>\n {4}divide\(0\)/,
    )
    expect(result.error?.traceback).toContain('line 2, in divide\n    return 1 / x')
    expect(result.error?.traceback).not.toContain('noetl_call')
  })

  test('keeps its line number when the code returns at the top level or in main', async () => {
    const returning = await run('if False:\n    return 1\nboom()')
    expect(returning.error?.traceback).toContain('File "<step try_it>", line 3, in <module>')
    const inMain = await run('async def main():\n    boom()')
    expect(inMain.error?.traceback).toMatch(/^Traceback[^\n]*\n {2}File "<step try_it>", line 2, in main/)
  })

  test('shows its cause', async () => {
    const { error } = await run(
      'try:\n    {}["k"]\nexcept KeyError as e:\n    raise RuntimeError("no k") from e',
    )
    expect(error?.traceback).toContain("KeyError: 'k'")
    expect(error?.traceback).toContain('RuntimeError: no k')
  })

  test('of syntax names the line', async () => {
    const { error } = await run('x = 1\ny = = 2')
    expect(error).toMatchObject({ kind: 'parse', code: 'PY_SyntaxError', retryable: false })
    expect(error?.message).toBe('SyntaxError: invalid syntax (line 2)')
    expect(error?.traceback).toContain('y = = 2')
    expect(error?.traceback).not.toContain('ast.py')
  })

  test.each([
    ['int("x")', 'schema', 'PY_ValueError', false],
    ['{}["k"]', 'schema', 'PY_KeyError', false],
    ['[][0]', 'schema', 'PY_IndexError', false],
    ['1 + "a"', 'schema', 'PY_TypeError', false],
    ['json.loads("{")', 'parse', 'PY_JSONDecodeError', false],
    ['raise TimeoutError("slow")', 'timeout', 'PY_TIMEOUT', true],
    ['raise ConnectionRefusedError("no")', 'connection', 'PY_ConnectionRefusedError', true],
    ['class Mine(KeyError): pass\nraise Mine()', 'schema', 'PY_Mine', false],
    ['assert False, "no"', 'runtime', 'PY_AssertionError', false],
    ['class Busy(Exception): retryable = True\nraise Busy("later")', 'runtime', 'PY_Busy', true],
  ])('%s is classified', async (code, kind, word, retryable) => {
    expect((await run(code)).error).toMatchObject({ kind, code: word, retryable })
  })

  test('sys.exit with a code is an error with that code', async () => {
    const result = await run('import sys\nsys.exit(3)')
    expect(result).toMatchObject({ outcome: 'error', exitCode: 3, error: { code: 'PY_SystemExit' } })
  })
})

describe('the end of a process', () => {
  test.each([
    ['os._exit(3)', { code: 'EXIT_3', kind: 'process' }],
    ['import ctypes\nctypes.string_at(0)', { code: 'PY_SIGSEGV', kind: 'process' }],
    ['import signal\nos.kill(os.getpid(), signal.SIGKILL)', { code: 'PY_SIGKILL', kind: 'process' }],
    [
      'import time\nos.kill(os.getppid(), 9)\ntime.sleep(30)',
      { code: 'PY_INTERPRETER_LOST', kind: 'process' },
    ],
  ])('by %j is an error of that call only', async (code, error) => {
    const result = await run(`print("said", flush=True)\n${code}`)
    expect(result).toMatchObject({ outcome: 'error', error })
    expect(await run('result = "healed"')).toMatchObject({ outcome: 'ok', data: 'healed' })
  })

  test('takes everything the call started with it', async () => {
    const { data } = await run('import subprocess\nresult = subprocess.Popen(["sleep", "60"]).pid')
    await untilGone(data as number)
  })

  test('waits for threads and exit handlers, as a script does', async () => {
    const code =
      'import threading, atexit, time\natexit.register(lambda: print("bye"))\n' +
      'threading.Thread(target=lambda: (time.sleep(0.05), print("thread"))).start()\nresult = 1'
    expect(await run(code)).toMatchObject({ data: 1, stdout: 'thread\nbye\n' })
  })
})

describe('limits', () => {
  test('a timeout kills the process group and keeps what was printed', async () => {
    const code = `
import subprocess, time
child = subprocess.Popen(["sleep", "60"])
print(os.getpid(), child.pid, flush=True)
time.sleep(60)`
    const result = await timeOutOncePrinted(code)
    expect(result.outcome).toBe('error')
    expect(result.error).toEqual({
      kind: 'timeout',
      code: 'PY_TIMEOUT',
      message: 'Timed out after 0.4 seconds',
      retryable: true,
    })
    const pids = (result.stdout ?? '').trim().split(' ').map(Number)
    expect(pids.length).toBe(2)
    for (const pid of pids) await untilGone(pid)
    expect(result.data).toBeUndefined()
  })

  test('code that ignores signals is killed all the same', async () => {
    const code =
      'import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint("deaf", flush=True)\nwhile True:\n  pass'
    expect((await timeOutOncePrinted(code)).error?.code).toBe('PY_TIMEOUT')
  })

  test('memory is limited where the tool block says so', async () => {
    const { error } = await run({ code: 'x = bytearray(2_000_000_000)', memory_mb: 300 })
    expect(error).toMatchObject({ code: 'PY_MemoryError' })
    expect((await run('result = 1')).outcome).toBe('ok')
  })
})

describe('the pool', () => {
  test('runs calls side by side up to its size, and the others after them', async () => {
    const two = createPythonTool({ env: process.env, maxInterpreters: 2 })
    const calls = Array.from({ length: 6 }, (_, n) =>
      two.run(aCall({ code: 'result = n * 2' }, { input: { n } })),
    )
    expect((await Promise.all(calls)).map((result) => result.data)).toEqual([0, 2, 4, 6, 8, 10])
    expect(two.interpreterCount()).toBe(2)
    await two.close()
    expect(two.interpreterCount()).toBe(0)
  })

  test('a call that is cancelled while it waits never runs', async () => {
    const sign = join(directory, 'go on')
    const one = createPythonTool({ env: process.env, maxInterpreters: 1 })
    const code =
      'import time\nprint("here", flush=True)\nwhile not os.path.exists(sign): time.sleep(0.01)\nresult = 1'
    const cancelled = new AbortController()
    const log = (): void => cancelled.abort(timeoutFailure(50))
    const first = one.run(aCall({ code }, { input: { sign }, log }))
    const second = one.run(aCall({ code: 'result = 2' }, { signal: cancelled.signal }))
    expect((await second).error?.code).toBe('PY_TIMEOUT')
    writeFileSync(sign, '')
    expect((await first).data).toBe(1)
    await one.close()
  })

  test('lets an interpreter go after its share of calls', async () => {
    const short = createPythonTool({ env: process.env, maxInterpreters: 1, callsPerInterpreter: 2 })
    const parents: unknown[] = []
    for (let call = 0; call < 4; call += 1) {
      parents.push((await short.run(aCall({ code: 'result = os.getppid()' }))).data)
    }
    expect(parents[0]).toBe(parents[1])
    expect(parents[2]).toBe(parents[3])
    expect(parents[0]).not.toBe(parents[2])
    await short.close()
  })

  test('a missing Python is an error that says what to do', async () => {
    const none = createPythonTool({ env: process.env, python: '/no/such/python' })
    const { error } = await none.run(aCall({ code: 'result = 1' }))
    expect(error).toMatchObject({ kind: 'config', code: 'PYTHON_NOT_FOUND', retryable: false })
    expect(error?.message).toBe(
      'Cannot run "/no/such/python": there is no such program. ' +
        'Install Python 3.9 or newer, or set NOETL_PYTHON to the path of its program.',
    )
    await none.close()
  })

  test('a program that is no Python is an error that shows what it said', async () => {
    const wrong = createPythonTool({ env: process.env, python: '/bin/false' })
    expect((await wrong.run(aCall({ code: 'result = 1' }))).error?.code).toBe('PYTHON_NOT_READY')
    await wrong.close()
  })
})
