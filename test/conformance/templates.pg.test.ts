/** Values on their way through templates, on the server and on the worker. */
import { expect, test } from 'vitest'
import type { Json } from '../../src/contract/json.ts'
import { useProduct } from '../support/playbook-run.ts'

const { refusal, run } = useProduct()

/** The value as a single tool gets it (rendered by the server) and as a task gets it (rendered by the worker). */
const rendered = async (
  value: string,
  workload = '{}',
): Promise<readonly [Json | undefined, Json | undefined]> => {
  const { data } = await run({
    top: `workload: ${workload}`,
    steps: `
      - { step: start, tool: { kind: noop, result: ${value} }, next: task }
      - { step: task, tool: [ { only: { kind: noop, result: ${value} } } ] }`,
  })
  return [data('start'), (data('task') as { only: Json }).only]
}

const expectBoth = async (value: string, expected: Json, workload?: string): Promise<void> => {
  expect(await rendered(value, workload)).toEqual([expected, expected])
}

test('case 25: python receives structures with the same types', async () => {
  const { data } = await run({
    top: 'workload: { obj: { none: null, list: [1, [2.5, "x"], {}], yes: true, no: false } }',
    steps: `
      - step: start
        tool:
          kind: python
          input: { v: "{{ obj }}" }
          code: |
            result = {"v": v, "types": [type(v[k]).__name__ for k in ("none", "list", "yes")], "order": list(v)}`,
  })
  expect(data('start')).toEqual({
    v: { none: null, list: [1, [2.5, 'x'], {}], yes: true, no: false },
    types: ['NoneType', 'list', 'bool'],
    order: ['none', 'list', 'yes', 'no'],
  })
})

test('case 26: literal texts arrive as the same texts, whatever they look like', async () => {
  const { data } = await run(`
    - step: start
      tool:
        kind: python
        input: { a: "007", b: "1e5", c: "true", d: "", e: "[1]", f: "null" }
        code: "result = [a, b, c, d, e, f]"`)
  expect(data('start')).toEqual(['007', '1e5', 'true', '', '[1]', 'null'])
})

test('case 27: a lone expression keeps its type, anything around it makes text', async () => {
  await expectBoth('["{{ n }}", "{{ n }}0"]', [5, '50'], '{ n: 5 }')
})

test('case 28: tojson gives text, fromjson a structure', async () => {
  await expectBoth(
    '["{{ obj | tojson }}", "{{ txt | fromjson }}"]',
    ['{"b":1,"a":[2]}', { c: [3] }],
    `{ obj: { b: 1, a: [2] }, txt: '{"c": [3]}' }`,
  )
})

test('case 29: what is missing is null, empty or false and never an error', async () => {
  await expectBoth(
    '["{{ missing.deep.path }}", "<{{ missing.deep.path }}>", "{{ missing.deep | default(3) }}"]',
    [null, '<>', 3],
  )
  const { status, skipped } = await run(`
    - { step: start, tool: { kind: noop }, next: a }
    - { step: a, when: "{{ missing.deep.path }}", tool: { kind: noop } }`)
  expect({ status, skipped }).toEqual({ status: 'COMPLETED', skipped: ['a guard'] })
})

test('case 30: null is defined, is none, and takes the default', async () => {
  await expectBoth(
    `["{{ x is none }}", "{{ x is defined }}", "{{ x | default('d') }}"]`,
    [true, true, 'd'],
    '{ x: null }',
  )
})

test('case 31: conditions work without braces, by truth of the value, and know the texts that mean no', async () => {
  const guards = [
    'x > 3',
    '{{ a and b }}',
    '{{ t0 }}',
    '{{ t1 }}',
    '{{ t2 }}',
    '{{ t3 }}',
    '{{ t4 }}',
    '{{ yes }}',
  ]
  const arcs = guards.map((when, index) => `{ step: g${index}, when: "${when}" }`).join(', ')
  const { runs } = await run({
    top: `workload: { x: 4, a: true, b: req-1, t0: "False", t1: "no", t2: "off", t3: "0", t4: "[]", yes: "yes" }`,
    steps: [
      `- { step: start, tool: { kind: noop }, next: { spec: { mode: inclusive }, arcs: [ ${arcs} ] } }`,
      ...guards.map((_, index) => `- { step: g${index} }`),
    ].join('\n'),
  })
  expect(runs).toEqual(['start', 'g0', 'g1', 'g7'])
})

test('case 32: int of something undefined is 0 on server and worker alike', async () => {
  await expectBoth('"{{ undefined_name | int }}"', 0)
})

test('case 33: data that looks like a template arrives literally', async () => {
  const { data } = await run(`
    - { step: start, tool: { kind: python, code: "result = {'text': '{' + '{ 7 * 7 }' + '}'}" }, next: single }
    - { step: single, tool: { kind: noop, result: "{{ start.text }}" }, next: task }
    - { step: task, tool: [ { one: { kind: python, input: { t: "{{ start.text }}" }, code: "result = t" } }, { two: { kind: noop, result: "{{ one }}" } } ] }`)
  expect(data('single')).toBe('{{ 7 * 7 }}')
  expect(data('task')).toEqual({ one: '{{ 7 * 7 }}', two: '{{ 7 * 7 }}' })
})

test('case 34: an unknown filter in an arc guard is refused at registration', async () => {
  const { status, text } = await refusal(`
    - { step: start, tool: { kind: noop }, next: { arcs: [ { step: b, when: "{{ 1 | frobnicate }}" } ] } }
    - { step: b, tool: { kind: noop } }`)
  expect(status).toBe(422)
  expect(text).toContain('frobnicate')
})

test('case 35: a boolean as text is comparable, base64 goes there and back, length counts characters', async () => {
  await expectBoth(
    `["{{ flag | string | lower == 'true' }}", "{{ 'zwölf' | b64encode | b64decode }}", "{{ 'äö' | length }}"]`,
    [true, 'zwölf', 2],
    '{ flag: true }',
  )
})

test('case 36: a long id keeps all its digits', async () => {
  const { executionId, data } = await run(
    {
      top: 'workload: { given: "" }',
      steps: `
        - { step: start, tool: { kind: python, input: { id: "{{ execution_id }}", given: "{{ given }}" }, code: "result = [id, given, type(id).__name__]" }, next: task }
        - { step: task, tool: [ { only: { kind: noop, result: ["{{ execution_id }}", "{{ given }}", "{{ start[0] }}", "id {{ given }}"] } } ] }`,
    },
    { payload: { given: '123456789012345678' } },
  )
  expect(executionId.length).toBeGreaterThanOrEqual(18)
  expect(data('start')).toEqual([executionId, '123456789012345678', 'str'])
  expect(data('task')).toEqual({
    only: [executionId, '123456789012345678', executionId, 'id 123456789012345678'],
  })
})
