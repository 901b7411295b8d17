/** Workload, payload and the input of tools. */
import { expect, test } from 'vitest'
import { useProduct } from '../support/playbook-run.ts'

const { refusal, run } = useProduct()

test('case 19: the payload replaces workload keys whole, not in depth', async () => {
  const { data } = await run(
    {
      top: 'workload: { a: 1, n: { x: 1, y: 2 } }',
      steps: '- { step: start, tool: { kind: noop, result: ["{{ workload.n }}", "{{ a }}"] } }',
    },
    { payload: { n: { x: 9 } } },
  )
  expect(data('start')).toEqual([{ x: 9 }, 1])
})

test('case 20: a variable hides the workload key for bare and ctx access, never the workload itself', async () => {
  const { data } = await run({
    top: 'workload: { a: 1 }',
    steps: `
      - { step: start, tool: { kind: noop }, set: { ctx.a: 5 }, next: read }
      - { step: read, tool: { kind: noop, result: ["{{ a }}", "{{ ctx.a }}", "{{ workload.a }}"] } }`,
  })
  expect(data('read')).toEqual([5, 5, 1])
})

test('case 21: templates of workload defaults are rendered once, those of the payload never', async () => {
  const { executionId, data } = await run(
    {
      top: 'workload: { run: "r-{{ execution_id }}", given: none }',
      steps: `
        - { step: start, tool: { kind: noop }, next: read }
        - { step: read, tool: { kind: python, input: { run: "{{ run }}", given: "{{ given }}" }, code: "result = [run, given]" } }`,
    },
    { payload: { given: '{{ 1 + 1 }}' } },
  )
  expect(data('read')).toEqual([`r-${executionId}`, '{{ 1 + 1 }}'])
})

test('case 22: input and args of a tool give the same python globals, and both together are refused', async () => {
  const tool = (key: string): string =>
    `- { step: start, tool: { kind: python, ${key}: { n: "{{ 1 + 1 }}" }, code: "result = [n, input_data, args]" } }`
  const input = await run(tool('input'))
  const args = await run(tool('args'))
  expect(input.data('start')).toEqual([2, { n: 2 }, { n: 2 }])
  expect(args.data('start')).toEqual(input.data('start'))
  const both = await refusal(
    '- { step: start, tool: { kind: python, input: { n: 1 }, args: { n: 2 }, code: "result = n" } }',
  )
  expect(both.status).toBe(422)
  expect(both.text).toMatch(/input.*args|args.*input/)
})

test('case 23: the input of a step is a default under that of its tool', async () => {
  const { data } = await run({
    top: 'workload: { a: 1 }',
    steps: `
      - { step: start, input: { k: "{{ workload.a }}" }, tool: { kind: python, code: "result = k" }, next: own }
      - { step: own, input: { k: 1, m: 3 }, tool: { kind: python, input: { k: 2 }, code: "result = [k, m]" } }`,
  })
  expect(data('start')).toBe(1)
  expect(data('own')).toEqual([2, 3])
})

const WORKBOOK = `workbook: [ { name: add, tool: { kind: python, input: { n: 0, m: 1 }, code: "result = {'n': n, 'm': m}" } } ]`

test('case 24: a workbook reference takes the tool, the input of the step over its defaults, also in a pipeline', async () => {
  const { data } = await run({
    top: WORKBOOK,
    steps: `
      - { step: start, tool: { kind: workbook, name: add, input: { n: 7 } }, next: list }
      - { step: list, tool: [ { one: { kind: workbook, name: add, input: { m: 2 } } }, { two: { kind: noop, result: "{{ one.m }}" } } ] }`,
  })
  expect(data('start')).toEqual({ n: 7, m: 1 })
  expect(data('list')).toEqual({ one: { n: 0, m: 2 }, two: 2 })
  const unknown = await refusal({
    top: WORKBOOK,
    steps: '- { step: start, tool: { kind: workbook, name: ad } }',
  })
  expect(unknown.status).toBe(422)
  expect(unknown.text).toMatch(/'ad'.*add/)
})
