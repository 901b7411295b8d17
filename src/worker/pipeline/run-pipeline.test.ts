/** How a pipeline moves from task to task, how it is ended from outside, and what it answers. Numbers are those of run-pipeline.ts. */
import { describe, expect, test } from 'vitest'

import type { Json } from '../../contract/json.ts'
import { systemClock } from '../clock.ts'
import { createHandClock } from '../test-support.ts'
import { ToolFailure } from '../tool-failure.ts'
import { always, error, ok, runTasks, scripted, toolOf, when } from './test-support.ts'

describe('jumps', () => {
  const jumpTo = (to: string, from: string): Json => [
    { a: { kind: 'noop', result: 1, ...(from === 'a' ? jumping(to) : {}) } },
    { b: { kind: 'noop', result: 2, ...(from === 'b' ? jumping(to) : {}) } },
  ]
  const jumping = (to: string): object => ({
    set: { 'iter.n': '{{ (iter.n or 0) + 1 }}' },
    spec: { policy: { rules: [when('{{ iter.n < 3 }}', { do: 'jump', to })] } },
  })

  test.each(['previous', 'prev', '_previous', '@previous', 'a'])('%s is the task before', async (to) => {
    expect(await runTasks(jumpTo(to, 'b'))).toMatchObject({ outcome: 'ok', data: { a: 1, b: 2 } })
  })

  test.each([
    ['nowhere', 'b'],
    ['previous', 'a'],
    ['', 'a'],
  ])('to %j from %s goes nowhere', async (to, from) => {
    expect(await runTasks(jumpTo(to, from))).toMatchObject({
      outcome: 'error',
      data: { _failed_task: from },
      error: { code: 'JUMP_TARGET', message: `Task '${from}' jumps to '${to}', which does not exist` },
    })
  })

  test('data comes in the order of the last runs, so that the newest wins when it is flattened', async () => {
    const tasks = [
      { a: { kind: 'noop', ...breakingLater } },
      { b: { kind: 'noop', spec: { policy: { rules: [always({ do: 'jump', to: 'a' })] } } } },
    ]
    expect(Object.keys((await runTasks(tasks)).data as object)).toEqual(['b', 'a'])
  })
  const breakingLater = {
    set: { 'iter.n': '{{ (iter.n or 0) + 1 }}' },
    spec: { policy: { rules: [when('{{ iter.n == 2 }}', { do: 'break' })] } },
  }

  test('the attempts of a task begin anew when it is entered by a jump', async () => {
    const { tool, calls } = scripted('flaky', [error('1'), ok(1), error('2'), ok(2)])
    const tasks = [
      {
        a: {
          kind: 'flaky',
          spec: { policy: { rules: [when('{{ output.error }}', { do: 'retry', attempts: 2 })] } },
        },
      },
      {
        b: {
          kind: 'noop',
          spec: { policy: { rules: [when('{{ a == 1 }}', { do: 'jump', to: 'a' })] } },
        },
      },
    ]
    expect(await runTasks(tasks, { tools: [tool] })).toMatchObject({ outcome: 'ok', data: { a: 2 } })
    expect(calls).toHaveLength(4)
  })
})

describe('ending from outside (2)', () => {
  const stop = new ToolFailure({ kind: 'aborted', code: 'CANCELLED', message: 'not wanted', retryable: true })
  const again = { policy: { rules: [{ else: { do: 'retry', attempts: 100, delay: 60, backoff: 'fixed' } }] } }

  test('an abort ends a wait at once, and the policy is not asked again', async () => {
    const controller = new AbortController()
    const { tool, calls } = scripted('flaky', [error('broken')])
    const { promise: waiting, resolve: begin } = Promise.withResolvers<void>()
    // A wait on this clock is never over.
    const clock = { ...systemClock, after: () => (begin(), () => undefined) }
    const running = runTasks([{ a: { kind: 'flaky', spec: again } }], {
      tools: [tool],
      signal: controller.signal,
      clock,
    })
    await waiting
    controller.abort(stop)
    expect(await running).toMatchObject({
      outcome: 'error',
      data: { a: null, _failed_task: 'a' },
      error: { code: 'CANCELLED' },
    })
    expect(calls).toHaveLength(1)
  })

  test('an abort reaches the tool, and no policy keeps the pipeline going', async () => {
    const controller = new AbortController()
    const { promise: called, resolve: call } = Promise.withResolvers<void>()
    let seen: unknown
    const slow = toolOf(
      'slow',
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            seen = signal.reason
            reject(signal.reason)
          })
          call()
        }),
    )
    const running = runTasks([{ a: { kind: 'slow', spec: again } }], {
      tools: [slow],
      signal: controller.signal,
    })
    await called
    controller.abort(stop)
    expect(await running).toMatchObject({ outcome: 'error', error: { code: 'CANCELLED' } })
    expect(seen).toBe(stop)
  })

  test('nothing starts after an abort', async () => {
    const { tool, calls } = scripted('flaky', [ok()])
    expect(
      await runTasks([{ a: { kind: 'flaky' } }], { tools: [tool], signal: AbortSignal.abort(stop) }),
    ).toMatchObject({
      error: { code: 'CANCELLED' },
    })
    expect(calls).toHaveLength(0)
  })

  test('the time limit of the command covers all tasks and keeps what they produced', async () => {
    const tasks = [{ a: { kind: 'noop', result: 1 } }, { b: { kind: 'flaky', spec: again } }]
    const { tool } = scripted('flaky', [error('broken')])
    const { clock, advance } = createHandClock()
    const running = runTasks(tasks, { tools: [tool], clock, over: { meta: { timeout_ms: 20 } } })
    await advance(20)
    expect(await running).toMatchObject({
      outcome: 'error',
      data: { a: 1, b: null, _failed_task: 'b' },
      error: { kind: 'timeout', message: 'Timed out after 0.02 seconds' },
    })
  })

  test('a loop of instant tasks leaves room for the abort', async () => {
    const controller = new AbortController()
    const tasks = [{ a: { kind: 'noop', spec: { policy: { rules: [{ else: { do: 'jump', to: 'a' } }] } } } }]
    setImmediate(() => controller.abort(stop))
    // If it kept the process to itself, the limit on task runs would end it first.
    expect(await runTasks(tasks, { signal: controller.signal })).toMatchObject({
      error: { code: 'CANCELLED' },
    })
  })
})

describe('the result (4)', () => {
  test('what tasks print is kept in order, and bounded; the exit code is that of the last task', async () => {
    const printing = toolOf('print', ({ config }) => ({
      outcome: 'ok',
      stdout: config['text'] as string,
      stderr: 'e',
      exitCode: config['code'] as number,
    }))
    const tasks = [
      { a: { kind: 'print', text: 'one\n', code: 1 } },
      { b: { kind: 'print', text: 'two\n', code: 0 } },
    ]
    expect(await runTasks(tasks, { tools: [printing] })).toMatchObject({
      stdout: 'one\ntwo\n',
      stderr: 'ee',
      exitCode: 0,
    })
    const flood = [1, 2, 3, 4].map((n) => ({ [`t${n}`]: { kind: 'print', text: `${n}`.repeat(200_000) } }))
    const { stdout = '' } = await runTasks(flood, { tools: [printing] })
    expect(stdout.length).toBe(256 * 1024 + '[earlier output dropped]\n'.length)
    expect(stdout.endsWith('4')).toBe(true)
  })

  test('a single tool keeps its own data, on success and on failure', async () => {
    const over = { meta: { unwrap: true } }
    expect(await runTasks([{ s_task: { kind: 'noop', result: [1], set: { x: 1 } } }], { over })).toEqual({
      outcome: 'ok',
      data: [1],
      contextUpdates: { x: 1 },
    })
    const { tool } = scripted('flaky', [{ ...error('bad'), data: { stderr: 'x' } }])
    expect(await runTasks([{ s_task: { kind: 'flaky' } }], { over, tools: [tool] })).toMatchObject({
      outcome: 'error',
      data: { stderr: 'x' },
    })
  })
})
