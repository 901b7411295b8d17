import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

import type { Json } from '../../contract/json.ts'
import { systemClock } from '../clock.ts'
import { ToolFailure } from '../tool-failure.ts'
import type { Tool } from '../tool.ts'
import {
  always,
  aPipeline,
  createHastyClock,
  createWarnings,
  error,
  ok,
  runnerOf,
  runTasks,
  scripted,
  toolOf,
  when,
} from './test-support.ts'

const echo = toolOf('echo', ({ config, input }) => ok({ config, input }))

/** One task `a` with rules, and a task `b` after it. */
const withRules = (rules: Json, kind = 'noop'): Json => [
  { a: { kind, result: 1, spec: { policy: { rules } } } },
  { b: { kind: 'noop', result: 2 } },
]

describe('how a pipeline travels', () => {
  test('flat items, labelled items and items without a name', async () => {
    const tasks = [
      { name: 'flat', kind: 'noop', result: 1 },
      { labelled: { kind: 'noop', result: '{{ flat + 1 }}' } },
      { kind: 'noop', result: '{{ labelled + 1 }}' },
    ]
    expect((await runTasks(tasks)).data).toEqual({ flat: 1, labelled: 2, task_2: 3 })
    expect((await runTasks({ tasks })).data).toEqual({ flat: 1, labelled: 2, task_2: 3 })
  })

  test.each([
    ['text', 'A pipeline must be a list of tasks'],
    [['text'], 'The task task_0 must be a mapping'],
    [[{ a: {} }], "The task 'a' has no kind"],
    [[{ a: { kind: 'noop' }, b: { kind: 'noop' } }], 'The task task_0 must have a kind'],
    [[{ a: { kind: 'noop', set: { 'workload.x': 1 } } }], "set cannot write 'workload.x'"],
    [[{ a: { kind: 'noop', set: { ctx: 1 } } }], "set cannot write 'ctx'"],
  ])('%j is a configuration error', async (tasks, message) => {
    expect(await runTasks(tasks)).toMatchObject({ outcome: 'error', error: { code: 'CONFIG', message } })
  })

  test('an empty pipeline is a success without data', async () => {
    expect(await runTasks([])).toEqual({ outcome: 'ok', data: {} })
  })

  test('it takes a slot, whatever its tasks are', () => {
    expect(runnerOf().isInstant(aPipeline([]))).toBe(false)
  })

  test('the argument vector of a container is rendered and stays in its block', async () => {
    const container: Tool = { ...echo, kind: 'container' }
    const tasks = [{ a: { kind: 'container', args: ['{{ 1 + 1 }}'], input: { x: 1 } } }]
    expect((await runTasks(tasks, { tools: [container] })).data).toEqual({
      a: { config: { args: [2] }, input: { x: 1 } },
    })
  })

  test('what is left of spec reaches the tool, the policy does not; auth is final', async () => {
    const tasks = [
      { a: { kind: 'echo', auth: { token: '{{ x }}' }, spec: { result: '{{ 2 }}', policy: { rules: [] } } } },
    ]
    expect((await runTasks(tasks, { tools: [echo] })).data).toEqual({
      a: { config: { auth: { token: '{{ x }}' }, spec: { result: 2 } }, input: {} },
    })
  })
})

describe('spellings of rules', () => {
  test.each<[string, object]>([
    ['{when: true, then: {do: break}}', { a: 1 }],
    ["{when: 'output.data == 1', then: {do: break}}", { a: 1 }],
    ["{when: '{{ output.data == 1 }}', then: {do: break}}", { a: 1 }],
    ["{when: '{{ outcome.result == 1 }}', then: {do: break}}", { a: 1 }],
    ['{when: \'{{ output.status in ["ok"] }}\', then: {do: break}}', { a: 1 }],
    ['{when: 1, then: {do: break}}', { a: 1 }],
    ['{else: {then: {do: break}}}', { a: 1 }],
    ['{else: {do: break}}', { a: 1 }],
    ['{else: null, then: {do: break}}', { a: 1 }],
    ['{then: {do: break}}', { a: 1 }],
    ['{when: false, then: {do: break}}', { a: 1, b: 2 }],
    ['{when: null, then: {do: break}}', { a: 1, b: 2 }],
    ["{when: 'none', then: {do: break}}", { a: 1, b: 2 }],
    ['{when: true, do: break}', { a: 1, b: 2 }],
    ['{do: break}', { a: 1, b: 2 }],
    ['break', { a: 1, b: 2 }],
    ['{then: {do: explode}}', { a: 1, b: 2 }],
    ['{then: null}', { a: 1, b: 2 }],
  ])('%s', async (rule, data) => {
    expect((await runTasks(withRules([parse(rule) as Json]))).data).toEqual(data)
  })

  test('set_ctx and set_iter are set with a prefix', async () => {
    const rule = always({ set_ctx: { x: 1, 'ctx.y': 2 }, set_iter: { z: '{{ output.data + 2 }}' } })
    const tasks = [
      { a: { kind: 'noop', result: 1, spec: { policy: { rules: [rule] } } } },
      { b: { kind: 'noop', result: ['{{ x }}', '{{ ctx.y }}', '{{ iter.z }}', '{{ z }}'] } },
    ]
    expect(await runTasks(tasks)).toMatchObject({
      data: { b: [1, 2, 3, null] },
      contextUpdates: { x: 1, y: 2 },
    })
  })

  test('a condition that fails does not match, and is logged', async () => {
    const { log, warnings } = createWarnings()
    const rules = [
      when('{{ output.data | no_such_filter }}', { do: 'fail' }),
      when('{{ 1 // 0 }}', { do: 'fail' }),
      { else: { do: 'break' } },
    ]
    expect(await runTasks(withRules(rules), { log })).toEqual({ outcome: 'ok', data: { a: 1 } })
    expect(warnings).toMatchObject([{ task: 'a' }, { task: 'a' }])
  })
})

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

describe('retries', () => {
  const failing = (then: object, answers = [error('broken')], variables = {}) => {
    const { tool, calls } = scripted('flaky', answers)
    const { clock, waits } = createHastyClock()
    const { log, warnings } = createWarnings()
    const tasks = [{ a: { kind: 'flaky', spec: { policy: { rules: [always({ do: 'retry', ...then })] } } } }]
    const running = runTasks(tasks, { tools: [tool], clock, log, over: { variables } })
    return running.then((result) => ({ result, runs: calls.length, waits, warnings: warnings.length }))
  }

  test.each<[object, number[]]>([
    [{ attempts: 3 }, []],
    [{ attempts: 3, delay: 2 }, []],
    [{ attempts: 3, delay: 2, backoff: 'fixed' }, [2000, 2000]],
    [{ attempts: 3, delay: 2, backoff: 'steady' }, [2000, 2000]],
    [{ attempts: 4, delay: 2, backoff: 'linear' }, [2000, 4000, 6000]],
    [{ attempts: 4, delay: '0.5', backoff: 'exponential' }, [500, 1000, 2000]],
    [{ attempts: '3', delay: '250ms', backoff: 'fixed' }, [250, 250]],
    [{ attempts: '{{ n }}', delay: '{{ d }}', backoff: 'fixed' }, [7000]],
    [{ attempts: 2, backoff: 'fixed' }, [1000]],
    [{ attempts: 2, delay: 0, backoff: 'fixed' }, []],
    [{ attempts: 4, delay: 200, backoff: 'exponential' }, [200_000, 300_000, 300_000]],
    [{ attempts: 0 }, []],
  ])('%j waits %j', async (then, expected) => {
    const { waits, result, warnings } = await failing(then, undefined, { n: 2, d: 7 })
    expect(waits).toEqual(expected)
    expect(result.error?.message).toBe('broken')
    expect(warnings).toBe(0)
  })

  test('runs three times when nothing is said, or nothing usable', async () => {
    expect((await failing({})).runs).toBe(3)
    expect(await failing({ attempts: 'many', delay: 'soon', backoff: 'fixed' })).toMatchObject({
      runs: 3,
      waits: [1000, 1000],
      warnings: 5,
    })
  })

  test('waits at least as long as the other side asked', async () => {
    const busy = error('busy', { retry_after: 9 })
    expect((await failing({ attempts: 2 }, [busy])).waits).toEqual([9000])
    expect((await failing({ attempts: 2, delay: 10, backoff: 'fixed' }, [busy])).waits).toEqual([10_000])
    expect((await failing({ attempts: 2 }, [error('busy', { retry_after: 1e9 })])).waits).toEqual([3_600_000])
  })

  test('a task that succeeds every time but is never good enough ends with an error of its own', async () => {
    const { result } = await failing({ attempts: 2 }, [ok('not yet')])
    expect(result).toMatchObject({
      outcome: 'error',
      data: { a: 'not yet', _failed_task: 'a' },
      error: { kind: 'policy', code: 'RETRIES_EXHAUSTED' },
    })
  })

  test('_prev stays what it was while a task is tried again', async () => {
    const { tool, calls } = scripted('flaky', [{ ...error('once'), data: 'half' }, ok('whole')])
    const tasks = [
      { a: { kind: 'noop', result: 'before' } },
      {
        b: {
          kind: 'flaky',
          seen: '{{ _prev }} {{ _task }} {{ _attempt }}',
          spec: { policy: { rules: [when('{{ output.error }}', { do: 'retry' })] } },
        },
      },
      { c: { kind: 'noop', result: '{{ _prev }}' } },
    ]
    expect((await runTasks(tasks, { tools: [tool] })).data).toMatchObject({ c: 'whole' })
    expect(calls.map(({ config }) => config['seen'])).toEqual(['before b 1', 'before b 2'])
  })

  test('every run has a call id of its own, the same when the command is run again', async () => {
    const run = async (): Promise<string[]> => {
      const { tool, calls } = scripted('flaky', [error('once'), ok()])
      const tasks = [
        {
          a: {
            kind: 'flaky',
            spec: { policy: { rules: [when('{{ output.error }}', { do: 'retry' })] } },
          },
        },
      ]
      await runTasks(tasks, { tools: [tool], over: { commandId: 'c' } })
      return calls.map(({ callId }) => callId)
    }
    expect(await run()).toEqual(['c/a/0', 'c/a/1'])
    expect(await run()).toEqual(['c/a/0', 'c/a/1'])
  })
})

describe('failures that the policy sees', () => {
  test.each<[object, object]>([
    [{ kind: 'fax' }, { kind: 'config', code: 'TOOL_NOT_FOUND' }],
    [
      { kind: 'noop', result: '{{ 1 // 0 }}' },
      { kind: 'template', code: 'TEMPLATE' },
    ],
    [
      { kind: 'noop', input: { x: '{{ 1 // 0 }}' } },
      { kind: 'template', code: 'TEMPLATE' },
    ],
    [
      { kind: 'noop', input: '{{ 5 }}' },
      { kind: 'config', code: 'CONFIG' },
    ],
    [
      { kind: 'echo', timeout: 'soon' },
      { kind: 'config', code: 'CONFIG' },
    ],
  ])('%j', async (block, expected) => {
    const rules = [always({ set: { error: '{{ output.error }}' } })]
    const result = await runTasks([{ a: { ...block, spec: { policy: { rules } } } }], { tools: [echo] })
    expect(result.outcome).toBe('ok')
    expect(result.contextUpdates).toMatchObject({ error: expected })
  })

  test('a time limit of the task, which a rule may handle', async () => {
    const stuck = toolOf(
      'stuck',
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)),
    )
    const rules = [when("{{ output.error.kind == 'timeout' }}", { do: 'continue' })]
    const tasks = [
      { a: { kind: 'stuck', timeout: 0.01, spec: { policy: { rules } } } },
      { b: { kind: 'noop', result: 1 } },
    ]
    expect(await runTasks(tasks, { tools: [stuck] })).toEqual({ outcome: 'ok', data: { a: null, b: 1 } })
    expect(await runTasks([{ a: { kind: 'stuck', timeout: 0.01 } }], { tools: [stuck] })).toMatchObject({
      outcome: 'error',
      error: { kind: 'timeout' },
    })
  })

  test('a set that fails ends the pipeline, whatever the policy says', async () => {
    const rules = [{ else: { do: 'continue' } }]
    const ofTask = [{ a: { kind: 'noop', set: { x: '{{ 1 // 0 }}' }, spec: { policy: { rules } } } }]
    const ofRule = [
      { a: { kind: 'noop', spec: { policy: { rules: [always({ set: { x: '{{ 1 // 0 }}' } })] } } } },
    ]
    for (const tasks of [ofTask, ofRule]) {
      const result = await runTasks(tasks)
      expect(result).toMatchObject({
        outcome: 'error',
        data: { _failed_task: 'a' },
        error: { code: 'TEMPLATE' },
      })
      expect(result.error?.message).toMatch(/^Template in set\.x failed: /)
    }
  })

  test('a task set runs after an error too', async () => {
    const { tool } = scripted('flaky', [{ ...error('bad'), data: { rows: 3 } }])
    const result = await runTasks([{ a: { kind: 'flaky', set: { 'ctx.rows': '{{ output.rows }}' } } }], {
      tools: [tool],
    })
    expect(result).toMatchObject({ outcome: 'error', contextUpdates: { rows: 3 } })
  })
})

describe('ending from outside (2)', () => {
  const stop = new ToolFailure({ kind: 'aborted', code: 'CANCELLED', message: 'not wanted', retryable: true })
  const again = { policy: { rules: [{ else: { do: 'retry', attempts: 100, delay: 60, backoff: 'fixed' } }] } }

  test('an abort ends a wait at once, and the policy is not asked again', async () => {
    const controller = new AbortController()
    const { tool, calls } = scripted('flaky', [error('broken')])
    const running = runTasks([{ a: { kind: 'flaky', spec: again } }], {
      tools: [tool],
      signal: controller.signal,
    })
    await new Promise((resolve) => setTimeout(resolve, 5))
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
    let seen: unknown
    const slow = toolOf(
      'slow',
      ({ signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            seen = signal.reason
            reject(signal.reason)
          }),
        ),
    )
    const running = runTasks([{ a: { kind: 'slow', spec: again } }], {
      tools: [slow],
      signal: controller.signal,
    })
    await new Promise((resolve) => setTimeout(resolve, 5))
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
    expect(await runTasks(tasks, { tools: [tool], over: { meta: { timeout_ms: 20 } } })).toMatchObject({
      outcome: 'error',
      data: { a: 1, b: null, _failed_task: 'b' },
      error: { kind: 'timeout', message: 'Timed out after 0.02 seconds' },
    })
  })

  test('a loop of instant tasks leaves room for the abort', async () => {
    const controller = new AbortController()
    const tasks = [{ a: { kind: 'noop', spec: { policy: { rules: [{ else: { do: 'jump', to: 'a' } }] } } } }]
    setTimeout(() => controller.abort(stop), 20)
    const began = systemClock.elapsed()
    expect(await runTasks(tasks, { signal: controller.signal })).toMatchObject({
      error: { code: 'CANCELLED' },
    })
    expect(systemClock.elapsed() - began).toBeLessThan(1000)
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
