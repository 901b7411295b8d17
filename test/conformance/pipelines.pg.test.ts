/** Pipelines and the policy of their tasks, on a real worker with real tools. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestServer } from '../../src/worker/tools/http/test-server.ts'
import { startTestServer } from '../../src/worker/tools/http/test-server.ts'
import { useProduct } from '../support/playbook-run.ts'

const product = useProduct()
const { refusal, run } = product

const directory = mkdtempSync(join(tmpdir(), 'noetl-pipelines-'))
let web: TestServer
beforeAll(async () => {
  web = await startTestServer()
})
afterAll(async () => {
  await web.close()
  rmSync(directory, { recursive: true })
})

const rules = (...list: string[]): string => `spec: { policy: { rules: [ ${list.join(', ')} ] } }`
const onError = (then: string): string => `{ when: "{{ output.status == 'error' }}", then: ${then} }`

test('case 79: a later task reads the data and the variables of an earlier one, in every field', async () => {
  const { error, data } = await run(
    {
      top: 'workload: { url: "", database: "" }',
      steps: `
        - step: start
          tool:
            - first: { kind: noop, result: { x: 7, name: Ada }, set: { ctx.greeting: "hello {{ output.name }}" } }
            - web: { kind: http, url: "{{ url }}/echo?x={{ first.x }}", params: { y: "{{ first.data.x }}", g: "{{ greeting }}" } }
            - sql: { kind: postgres, auth: { connection_string: "{{ database }}" }, query: "select {{ first.x }} + $1::int as n, $2 as g", params: [1, "{{ ctx.greeting }}"] }
            - code: { kind: python, input: { x: "{{ first.x }}" }, code: "result = [x, {{ first.x }}, '{{ greeting }}']" }`,
    },
    { payload: { url: web.url, database: product.databaseUrl() } },
  )
  expect(error).toBeNull()
  expect(data('start')).toMatchObject({
    web: { data: { query: { x: '7', y: '7', g: 'hello Ada' } } },
    sql: { rows: [{ n: 8, g: 'hello Ada' }] },
    code: [7, 7, 'hello Ada'],
  })
})

test('case 80: a later step reads a pipeline by label, flattened with the later task winning, and below results', async () => {
  const { data } = await run(`
    - { step: start, tool: [ { b: { kind: noop, result: { x: 1, only: 2 } } }, { a: { kind: noop, result: { x: 3 } } } ], next: read }
    - { step: read, tool: { kind: noop, result: ["{{ start.b.x }}", "{{ start.x }}", "{{ start.only }}", "{{ start.results.a.x }}"] } }`)
  expect(data('read')).toEqual([1, 3, 2, 3])
})

test('case 81: unnamed tasks are task_0 and task_1, and both results are kept', async () => {
  const { data } = await run(
    '- { step: start, tool: [ { kind: noop, result: 1 }, { kind: noop, result: "{{ task_0 + 1 }}" } ] }',
  )
  expect(data('start')).toEqual({ task_0: 1, task_1: 2 })
})

test('case 82: without a policy an error stops the pipeline and fails the step; success goes on', async () => {
  const { status, error, data } = await run(`
    - step: start
      tool:
        - one: { kind: noop, result: 1 }
        - two: { kind: python, code: "raise ValueError('no luck')" }
        - three: { kind: noop, result: 3 }`)
  expect(status).toBe('FAILED')
  expect(error).toContain('no luck')
  expect(data('start')).toMatchObject({ one: 1, _failed_task: 'two' })
  expect(data('start')).not.toHaveProperty('three')
})

test.each([
  [
    'the first match',
    rules('{ when: true, then: { do: break } }', '{ when: true, then: { do: fail } }'),
    'COMPLETED',
    false,
  ],
  [
    'else when nothing else matches',
    rules('{ when: false, then: { do: fail } }', '{ else: { then: { do: break } } }'),
    'COMPLETED',
    false,
  ],
  ['a boolean', rules('{ when: true, then: { do: fail } }'), 'FAILED', false],
  ['nothing on success, which goes on', rules(onError('{ do: break }')), 'COMPLETED', true],
])('case 83: of the rules, %s decides', async (_, policy, status, goesOn) => {
  const found = await run(`
    - step: start
      tool: [ { one: { kind: noop, ${policy} } }, { two: { kind: noop } } ]`)
  expect(found.status).toBe(status)
  expect(Object.hasOwn(found.data('start') as object, 'two')).toBe(goesOn)
})

test('case 83: an error that no rule matches fails', async () => {
  const { status } = await run(`
    - step: start
      tool: [ { one: { kind: shell, command: "exit 3", ${rules(`{ when: "{{ output.status == 'success' }}", then: { do: continue } }`)} } } ]`)
  expect(status).toBe('FAILED')
})

/** Runs a task that notes attempt and time of each of its executions. */
const retried = async (name: string, then: string, succeedsAt = 99) => {
  const file = join(directory, name)
  const found = await run(
    {
      top: 'workload: { file: "" }',
      steps: `
        - step: start
          tool:
            - one:
                kind: shell
                command: 'echo {{ _attempt }} $(date +%s%N) >> {{ file }}; [ $(wc -l < {{ file }}) -ge ${succeedsAt} ]'
                ${rules(onError(then))}`,
    },
    { payload: { file } },
  )
  const lines = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
  const times = lines.map(([, time]) => Number(BigInt(time ?? 0) / 1_000_000n))
  const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0))
  return { status: found.status, attempts: lines.map(([attempt]) => attempt), waits }
}

/** Waits may be longer on a busy machine, never shorter. */
const expectWaits = (waits: readonly number[], ...least: number[]): void => {
  expect(waits).toHaveLength(least.length)
  for (const [index, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual((least[index] ?? 0) - 5)
}

test('case 84: a linear retry runs the task as often as it may, waiting longer each time, then fails', async () => {
  const { status, attempts, waits } = await retried(
    'linear',
    '{ do: retry, attempts: 3, backoff: linear, delay: 0.1 }',
  )
  expect(status).toBe('FAILED')
  expect(attempts).toEqual(['1', '2', '3'])
  expectWaits(waits, 100, 200)
})

test('case 84: a retry that succeeds ends well', async () => {
  const { status, attempts } = await retried(
    'second',
    '{ do: retry, attempts: 3, backoff: linear, delay: 0.1 }',
    2,
  )
  expect({ status, attempts }).toEqual({ status: 'COMPLETED', attempts: ['1', '2'] })
})

test('case 84: without backoff a retry does not wait', async () => {
  const { attempts, waits } = await retried('hasty', '{ do: retry, attempts: 3, delay: 20 }')
  expect(attempts).toHaveLength(3)
  expect(Math.max(...waits)).toBeLessThan(20_000)
})

test('case 85: an exponential retry doubles its wait', async () => {
  const { status, waits } = await retried(
    'exponential',
    '{ do: retry, attempts: 4, backoff: exponential, delay: 0.1 }',
  )
  expect(status).toBe('FAILED')
  expectWaits(waits, 100, 200, 400)
})

test('case 86: jump and break page through a list, and previous is the task before', async () => {
  const { error, data } = await run(
    {
      top: 'workload: { url: "" }',
      steps: `
        - step: start
          tool:
            - init: { kind: noop, set: { iter.page: 1, ctx.ids: [] } }
            - fetch: { kind: http, url: "{{ url }}/items", params: { page: "{{ iter.page }}" }, set: { ctx.ids: "{{ ctx.ids + (output.data.data | map(attribute='id') | list) }}" } }
            - more:
                kind: noop
                ${rules(`{ when: "{{ fetch.data.meta.hasMore }}", then: { do: jump, to: fetch, set: { iter.page: "{{ iter.page + 1 }}" } } }`, '{ else: { then: { do: break } } }')}
            - never: { kind: noop }
          next: back
        - step: back
          tool:
            - count: { kind: noop, set: { ctx.n: "{{ ctx.n | int + 1 }}" } }
            - turn: { kind: noop, ${rules('{ when: "{{ ctx.n < 3 }}", then: { do: jump, to: previous } }')} }
          next: read
        - { step: read, tool: { kind: noop, result: ["{{ ids }}", "{{ n }}", "{{ start.never is defined }}"] } }`,
    },
    { payload: { url: web.url } },
  )
  expect(error).toBeNull()
  expect(data('read')).toEqual([[1, 2, 3, 4, 5, 6, 7], 3, false])
  const unknown = await refusal(`
    - { step: start, tool: [ { a: { kind: noop, ${rules('{ when: true, then: { do: jump, to: nowhere } }')} } } ] }`)
  expect(unknown.status).toBe(422)
  expect(unknown.text).toContain('nowhere')
})

test('case 87: break in the first of three tasks ends the step well', async () => {
  const { status, data } = await run(`
    - step: start
      tool: [ { a: { kind: noop, result: 1, ${rules('{ when: true, then: { do: break } }')} } }, { b: { kind: noop } }, { c: { kind: noop } } ]`)
  expect(status).toBe('COMPLETED')
  expect(data('start')).toEqual({ a: 1 })
})

test('case 88: fail on a successful task fails the step', async () => {
  const { status, state } = await run(`
    - { step: start, tool: [ { a: { kind: noop, result: 1, ${rules('{ when: true, then: { do: fail } }')} } } ] }`)
  expect(status).toBe('FAILED')
  expect(state.steps.get('start')?.outcome).toBe('error')
})

test('case 89: continue after an error handles it, and the execution completes', async () => {
  const { status, data } = await run(`
    - step: start
      tool: [ { a: { kind: shell, command: "exit 3", ${rules(onError('{ do: continue }'))} } }, { b: { kind: noop, result: 2 } } ]`)
  expect(status).toBe('COMPLETED')
  expect(data('start')).toMatchObject({ b: 2 })
})

test('case 90: a refused connection is retryable and is retried', async () => {
  const { status, data } = await run(`
    - step: start
      tool:
        - call:
            kind: http
            url: "http://127.0.0.1:1/"
            ${rules('{ when: "{{ output.error.retryable and _attempt < 3 }}", then: { do: retry, attempts: 5 } }', '{ else: { then: { do: continue, set: { ctx.tries: "{{ _attempt }}" } } } }')}
      next: read
    - { step: read, tool: { kind: noop, result: "{{ tries }}" } }`)
  expect(status).toBe('COMPLETED')
  expect(data('read')).toBe(3)
})

test('case 91: rules see the http status and the verdict', async () => {
  const note = (name: string): string =>
    rules(
      `{ else: { then: { do: continue, set: { ctx.${name}: ["{{ output.http.status }}", "{{ output.status }}"] } } } }`,
    )
  const { data } = await run(
    {
      top: 'workload: { url: "" }',
      steps: `
        - step: start
          tool:
            - limited: { kind: http, url: "{{ url }}/limited", ${note('limited')} }
            - broken: { kind: http, url: "{{ url }}/status?code=500", ${note('broken')} }
            - missing: { kind: http, url: "{{ url }}/nowhere", ${note('missing')} }
            - fine: { kind: http, url: "{{ url }}/items", ${note('fine')} }
          next: read
        - { step: read, tool: { kind: noop, result: ["{{ ctx.limited }}", "{{ ctx.broken }}", "{{ ctx.missing }}", "{{ ctx.fine }}"] } }`,
    },
    { payload: { url: web.url } },
  )
  expect(data('read')).toEqual([
    [429, 'error'],
    [500, 'error'],
    [404, 'error'],
    [200, 'success'],
  ])
})

test('case 92: ctx and bare names are exported by rules and tasks, iter and step are not', async () => {
  const { data } = await run(`
    - step: start
      tool:
        - one:
            kind: noop
            set: { ctx.c: 3, step.d: 4 }
            ${rules('{ else: { then: { do: continue, set: { ctx.a: 1, iter.b: 2, bare: 5 } } } }')}
      next: read
    - { step: read, tool: { kind: noop, result: ["{{ a }}", "{{ b is defined }}", "{{ c }}", "{{ d is defined }}", "{{ bare }}"] } }`)
  expect(data('read')).toEqual([1, false, 3, false, 5])
})

test('case 93: rules on a single tool are honoured, and its data keeps its shape', async () => {
  const { status, data } = await run(`
    - step: start
      tool: { kind: python, code: "result = {'x': 7}", ${rules('{ else: { then: { do: continue, set: { ctx.seen: "{{ output.data.x }}" } } } }')} }
      next: read
    - { step: read, tool: { kind: noop, result: ["{{ start.x }}", "{{ seen }}", "{{ start }}"] }, next: failing }
    - { step: failing, tool: { kind: noop, ${rules('{ when: true, then: { do: fail } }')} } }`)
  expect(data('read')).toEqual([7, 7, { x: 7 }])
  expect(status).toBe('FAILED')
})

test('case 94: an else block without then is honoured, with its set', async () => {
  const { data } = await run(`
    - step: start
      tool: [ { one: { kind: shell, command: "exit 3", ${rules('{ when: false, then: { do: fail } }', '{ else: { do: continue, set: { ctx.way: else } } }')} } } ]
      next: read
    - { step: read, tool: { kind: noop, result: "{{ way }}" } }`)
  expect(data('read')).toBe('else')
})

test(
  'case 95: a jump loop without an exit ends with max_iterations_exceeded and fails the step',
  { timeout: 120_000 },
  async () => {
    const { status, error } = await run(`
    - { step: start, tool: [ { a: { kind: noop, ${rules('{ when: true, then: { do: jump, to: a } }')} } } ] }`)
    expect(status).toBe('FAILED')
    expect(error).toContain('max_iterations_exceeded')
  },
)
