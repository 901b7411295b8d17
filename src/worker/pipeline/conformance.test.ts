/** Pipelines and policy as playbooks describe them: parsed, issued by the engine, run by this worker, reported back. */
import { afterAll, describe, expect, test } from 'vitest'

import type { Json } from '../../contract/json.ts'
import type { ToolResult } from '../tool.ts'
import { createPythonTool } from '../tools/python.ts'
import { createHastyClock, error, ok, runPlaybook, scripted, toolOf } from './test-support.ts'

const python = createPythonTool({ env: process.env, python: process.env['NOETL_PYTHON'] ?? 'python3' })
afterAll(() => python.close())

/** Answers the block and the input it was called with. */
const echo = (kind: string) => toolOf(kind, ({ config, input }) => ok({ ...config, input }))

const failing = (message = 'no luck'): ToolResult => error(message)

const dataOf = (simulation: Awaited<ReturnType<typeof runPlaybook>>, step: string): Json | undefined =>
  simulation.state().steps.get(step)?.data

describe('results of tasks', () => {
  test('case 79: a later task reads the data and the variables of an earlier one, in every field', async () => {
    const simulation = await runPlaybook(
      `
  - step: start
    tool:
      - first: {kind: noop, result: {x: 7, name: Ada}, set: {ctx.greeting: 'hello {{ output.name }}'}}
      - web: {kind: http, url: 'http://host/{{ first.x }}', params: {n: '{{ first.data.x }}', list: ['{{ greeting }}']}}
      - sql: {kind: postgres, query: 'select {{ first.x }}', params: ['{{ ctx.greeting }}']}
      - code: {kind: python, input: {x: '{{ first.result.x }}'}, code: 'result = [x, {{ first.x }}, "{{ greeting }}"]'}`,
      { tools: [echo('http'), echo('postgres'), python] },
    )
    expect(simulation.status()).toBe('COMPLETED')
    expect(dataOf(simulation, 'start')).toMatchObject({
      web: { url: 'http://host/7', params: { n: 7, list: ['hello Ada'] } },
      sql: { query: 'select 7', params: ['hello Ada'] },
      code: [7, 7, 'hello Ada'],
    })
  })

  test('case 80: a later step reads them by label, flattened (later task wins), and below results', async () => {
    const simulation = await runPlaybook(`
  - step: start
    tool:
      - a: {kind: noop, result: {x: 1, only_a: 2}}
      - b: {kind: noop, result: {x: 3}}
    next: read
  - step: read
    tool:
      kind: noop
      result: ['{{ start.a.x }}', '{{ start.x }}', '{{ start.only_a }}', '{{ start.results.b.x }}']`)
    expect(dataOf(simulation, 'read')).toEqual([1, 3, 2, 3])
  })

  test('case 81: unnamed tasks are task_0 and task_1', async () => {
    const simulation = await runPlaybook(
      `  - {step: start, tool: [{kind: noop, result: 1}, {kind: noop, result: '{{ task_0 + 1 }}'}]}`,
    )
    expect(dataOf(simulation, 'start')).toEqual({ task_0: 1, task_1: 2 })
  })
})

describe('policy', () => {
  test('case 82: without a policy an error stops the pipeline and fails the step', async () => {
    const { tool, calls } = scripted('shell', [ok('fine'), failing()])
    const simulation = await runPlaybook(
      `
  - step: start
    tool:
      - one: {kind: shell, command: a}
      - two: {kind: shell, command: b}
      - three: {kind: shell, command: c}`,
      { tools: [tool] },
    )
    expect(calls.map(({ config }) => config['command'])).toEqual(['a', 'b'])
    expect(simulation.status()).toBe('FAILED')
    expect(dataOf(simulation, 'start')).toEqual({ one: 'fine', two: null, _failed_task: 'two' })
    expect(simulation.state().steps.get('start')?.error?.message).toBe('no luck')
  })

  test.each([
    ['[{when: true, then: {do: break}}, {when: true, then: {do: fail}}]', 'COMPLETED', false],
    ['[{when: false, then: {do: fail}}, {else: {then: {do: break}}}]', 'COMPLETED', false],
    ['[{when: "{{ output.status == \'ok\' }}", then: {do: break}}]', 'COMPLETED', false],
    ['[{when: "output.status == \'success\'", then: {do: break}}]', 'COMPLETED', false],
    ['[{when: "{{ output.status == \'error\' }}", then: {do: break}}]', 'COMPLETED', true],
  ])('case 83: of the rules %s the first match decides', async (rules, status, goesOn) => {
    const simulation = await runPlaybook(`
  - step: start
    tool:
      - one: {kind: noop, spec: {policy: {rules: ${rules}}}}
      - two: {kind: noop}`)
    expect(simulation.status()).toBe(status)
    expect(Object.hasOwn(dataOf(simulation, 'start') as object, 'two')).toBe(goesOn)
  })

  test('case 83: an error that no rule matches fails', async () => {
    const { tool } = scripted('shell', [failing()])
    const simulation = await runPlaybook(
      `
  - step: start
    tool: [{name: one, kind: shell, command: a, spec: {policy: {rules: [{when: '{{ output.status == "ok" }}', then: {do: continue}}]}}}]`,
      { tools: [tool] },
    )
    expect(simulation.status()).toBe('FAILED')
  })

  const retried = async (then: string, answers: readonly ToolResult[]) => {
    const { tool, calls } = scripted('shell', answers)
    const { clock, waits } = createHastyClock()
    const simulation = await runPlaybook(
      `
  - step: start
    tool:
      - name: one
        kind: shell
        command: 'run {{ _attempt }}'
        spec: {policy: {rules: [{when: '{{ output.status == "error" }}', then: ${then}}]}}`,
      { tools: [tool], clock },
    )
    return { status: simulation.status(), commands: calls.map(({ config }) => config['command']), waits }
  }

  test('case 84: a linear retry waits longer each time, then fails; a success ends it', async () => {
    const linear = '{do: retry, attempts: 3, backoff: linear, delay: 0.1}'
    expect(await retried(linear, [failing()])).toEqual({
      status: 'FAILED',
      commands: ['run 1', 'run 2', 'run 3'],
      waits: [100, 200],
    })
    expect(await retried(linear, [failing(), ok()])).toMatchObject({ status: 'COMPLETED', waits: [100] })
    expect((await retried('{do: retry, attempts: 3, delay: 5}', [failing()])).waits).toEqual([])
  })

  test('case 85: an exponential retry doubles its wait', async () => {
    const result = await retried('{do: retry, attempts: 4, backoff: exponential, delay: 0.1}', [failing()])
    expect(result.waits).toEqual([100, 200, 400])
    expect(result.commands).toHaveLength(4)
  })

  test('case 86: jump and break page through; previous is the task before', async () => {
    const pages = toolOf('http', ({ config }) => {
      const { page } = config['params'] as { page: number }
      return ok({ status_code: 200, headers: {}, data: { items: [page], more: page < 4 } })
    })
    const simulation = await runPlaybook(
      `
  - step: start
    tool:
      - init: {kind: noop, set: {iter.page: 1, ctx.all: []}}
      - fetch:
          kind: http
          params: {page: '{{ iter.page }}'}
          set: {ctx.all: '{{ ctx.all + output.data.items }}'}
      - check:
          kind: noop
          result: '{{ fetch.data.more }}'
          spec:
            policy:
              rules:
                - when: '{{ output.data }}'
                  then: {do: jump, to: previous, set: {iter.page: '{{ iter.page + 1 }}'}}
                - else: {do: break}
      - never: {kind: noop}`,
      { tools: [pages] },
    )
    expect(simulation.status()).toBe('COMPLETED')
    expect(simulation.state().vars).toEqual({ all: [1, 2, 3, 4] })
    expect(dataOf(simulation, 'start')).not.toHaveProperty('never')
  })

  test('case 86: a jump to an unknown label is rejected before anything runs', async () => {
    const workflow = `
  - {step: start, tool: [{name: a, kind: noop, spec: {policy: {rules: [{else: {do: jump, to: b}}]}}}]}`
    await expect(runPlaybook(workflow)).rejects.toThrow(/jumps to 'b'/)
  })

  test('case 87: break in the first of three tasks ends the step well', async () => {
    const simulation = await runPlaybook(`
  - step: start
    tool:
      - a: {kind: noop, result: 1, spec: {policy: {rules: [{then: {do: break}}]}}}
      - b: {kind: noop}
      - c: {kind: noop}`)
    expect(simulation.status()).toBe('COMPLETED')
    expect(dataOf(simulation, 'start')).toEqual({ a: 1 })
  })

  test('case 88: fail on a successful task fails the step', async () => {
    const simulation = await runPlaybook(`
  - step: start
    tool:
      - a: {kind: noop, result: 1, spec: {policy: {rules: [{when: '{{ output.data == 1 }}', then: {do: fail}}]}}}`)
    expect(simulation.status()).toBe('FAILED')
    expect(simulation.state().steps.get('start')?.error).toMatchObject({
      kind: 'policy',
      code: 'POLICY_FAIL',
    })
    expect(dataOf(simulation, 'start')).toEqual({ a: 1, _failed_task: 'a' })
  })

  test('case 89: continue after an error handles it', async () => {
    const simulation = await runPlaybook(
      `
  - step: start
    tool:
      - a: {kind: python, code: 'raise ValueError("bad")', spec: {policy: {rules: [{when: "{{ output.py.exception == 'ValueError' }}", then: {do: continue}}]}}}
      - b: {kind: noop, result: went on}`,
      { tools: [python] },
    )
    expect(simulation.status()).toBe('COMPLETED')
    expect(dataOf(simulation, 'start')).toMatchObject({ b: 'went on' })
  })

  test('case 90: a refused connection is retryable, and is retried', async () => {
    const refused = error('refused', { kind: 'connection', code: 'CONN_REFUSED', retryable: true })
    const { tool, calls } = scripted('http', [refused, ok({ status_code: 200 })])
    const simulation = await runPlaybook(
      `
  - step: start
    tool:
      - {name: a, kind: http, url: x, spec: {policy: {rules: [{when: '{{ output.error.retryable }}', then: {do: retry}}]}}}`,
      { tools: [tool] },
    )
    expect(calls).toHaveLength(2)
    expect(simulation.status()).toBe('COMPLETED')
  })

  test('case 91: rules see the http status and the verdict', async () => {
    const busy = {
      ...error('busy', { http_status: 429 }),
      data: { status_code: 429, headers: { a: 'b' }, data: null },
    }
    const { tool } = scripted('http', [busy, ok({ status_code: 200, headers: {}, data: {} })])
    const simulation = await runPlaybook(
      `
  - step: start
    tool:
      - name: a
        kind: http
        url: x
        spec:
          policy:
            rules:
              - when: '{{ output.http.status == 429 }}'
                then: {do: retry, set: {ctx.first: '{{ output.status }} {{ output.error.status }} {{ output.http.headers.a }}'}}
              - else: {set: {ctx.second: '{{ output.status }} {{ output.http.status }}'}}`,
      { tools: [tool] },
    )
    expect(simulation.state().vars).toEqual({ first: 'error 429 b', second: 'success 200' })
  })

  test('case 92: ctx and bare names are exported by both kinds of set, iter and step are not', async () => {
    const simulation = await runPlaybook(`
  - step: start
    tool:
      - name: a
        kind: noop
        set: {ctx.c: 3, d: 4, iter.e: 5}
        spec: {policy: {rules: [{then: {do: continue, set: {ctx.a: 1, iter.b: 2, step.f: 6, ctx.deep.er: '{{ c }}'}}}]}}
      - seen: {kind: noop, result: ['{{ a }}', '{{ ctx.d }}', '{{ iter.b }}', '{{ b }}', '{{ step.f }}', '{{ step }}']}
    next: later
  - {step: later, tool: {kind: noop, result: ['{{ a }}', '{{ b }}', '{{ c }}', '{{ deep.er }}', '{{ e }}']}}`)
    expect(dataOf(simulation, 'start')).toMatchObject({ seen: [1, 4, 2, null, 6, 'start'] })
    expect(dataOf(simulation, 'later')).toEqual([1, null, 3, 3, null])
    expect(simulation.state().vars).toEqual({ a: 1, c: 3, d: 4, deep: { er: 3 } })
  })

  test('case 93: rules on a single tool are honoured, and its data stays its own', async () => {
    const { tool } = scripted('shell', [failing(), ok({ x: 5 })])
    const simulation = await runPlaybook(
      `
  - step: start
    tool: {kind: shell, command: a, spec: {policy: {rules: [{when: '{{ output.status == "error" }}', then: {do: retry}}]}}}
    next: read
  - {step: read, tool: {kind: noop, result: '{{ start.x }}'}}`,
      { tools: [tool] },
    )
    expect(dataOf(simulation, 'start')).toEqual({ x: 5 })
    expect(dataOf(simulation, 'read')).toBe(5)
  })

  test('case 94: an else block without then is honoured', async () => {
    const simulation = await runPlaybook(`
  - step: start
    tool: [{name: a, kind: noop, spec: {policy: {rules: [{else: {do: continue, set: {ctx.seen: true}}}]}}}]`)
    expect(simulation.state().vars).toEqual({ seen: true })
  })

  test('case 95: a jump loop without an exit ends with max_iterations_exceeded', async () => {
    const simulation = await runPlaybook(
      `
  - step: start
    tool: [{name: a, kind: noop, spec: {policy: {rules: [{else: {do: jump, to: a}}]}}}]`,
      { maxTaskRuns: 500 },
    )
    expect(simulation.status()).toBe('FAILED')
    expect(simulation.state().steps.get('start')?.error?.kind).toBe('max_iterations_exceeded')
    expect(dataOf(simulation, 'start')).toMatchObject({ _failed_task: 'a' })
  })
})

describe('loops', () => {
  test('each iteration has its own iter; writes to it end with the iteration, ctx writes go on', async () => {
    const simulation = await runPlaybook(
      `
  - step: start
    loop: {in: '{{ names }}', iterator: name, spec: {mode: sequential}}
    tool:
      - before: {kind: noop, result: '{{ iter.mark }}', set: {iter.mark: '{{ name }}{{ _index }}/{{ _total }}'}}
      - after: {kind: noop, result: '{{ iter.mark }} {{ iter.name }}', set: {ctx.all: '{{ (ctx.all or []) + [output] }}'}}`,
      {},
      'workload: {names: [a, b]}',
    )
    expect(simulation.state().vars).toEqual({ all: ['a0/2 a', 'b1/2 b'] })
    expect(dataOf(simulation, 'start')).toMatchObject({ results: [{ before: null }, { before: null }] })
  })

  test('tools get the iteration as input, under what the author declared', async () => {
    const simulation = await runPlaybook(
      `
  - step: start
    loop: {in: [x, y], iterator: item, spec: {mode: sequential}}
    tool:
      - one: {kind: python, code: 'result = [item, _index, _total]'}
      - two: {kind: python, input: {item: mine}, code: 'result = item'}`,
      { tools: [python] },
    )
    expect((dataOf(simulation, 'start') as { results: Json }).results).toEqual([
      { one: ['x', 0, 2], two: 'mine' },
      { one: ['y', 1, 2], two: 'mine' },
    ])
  })

  test('python code that asks for the context gets what earlier tasks produced', async () => {
    const simulation = await runPlaybook(
      `
  - step: start
    tool:
      - first: {kind: noop, result: {x: 1}, set: {ctx.y: 2}}
      - second: {kind: python, code: 'result = [context["first"]["x"], context["y"], variables["w"]]'}`,
      { tools: [python] },
      'workload: {w: 3}',
    )
    expect(dataOf(simulation, 'start')).toMatchObject({ second: [1, 2, 3] })
  })
})
