import { expect, test } from 'vitest'

import type { Json, JsonObject } from '../../contract/json.ts'
import { runPlaybook } from '../pipeline/test-support.ts'
import { aCall } from '../test-support.ts'
import type { ToolResult } from '../tool.ts'
import { expressionTool } from './expression.ts'

const evaluate = (config: JsonObject, input: JsonObject = {}): ToolResult =>
  expressionTool.run(aCall(config, { input })) as ToolResult

const dataOf = (expr: Json, input: JsonObject = {}): Json | undefined => evaluate({ expr }, input).data

test.each<[Json, JsonObject, Json]>([
  ['price * count', { price: 2.5, count: 4 }, 10],
  ['name | upper', { name: 'ada' }, 'ADA'],
  ['n > 3 and flag', { n: 4, flag: true }, true],
  ["items | length if items else 'none'", { items: [1, 2] }, 2],
  ['input', { a: 1 }, { a: 1 }],
  ['input.rows[0].id', { rows: [{ id: 7 }] }, 7],
  ["{'a': {'b': n}}", { n: 1 }, { a: { b: 1 } }],
  ['none', {}, null],
  ['"{{"', {}, '{{'],
])('evaluates %j with its own type (rule 1)', (expr, input, expected) => {
  expect(evaluate({ expr }, input)).toEqual({ outcome: 'ok', data: expected })
})

test('evaluates mappings and lists, and keeps what is no text (rule 1)', () => {
  expect(dataOf({ total: 'a + b', parts: ['a', 'b'], fixed: 5 }, { a: 1, b: 2 })).toEqual({
    total: 3,
    parts: [1, 2],
    fixed: 5,
  })
})

test('takes code as another name for expr', () => {
  expect(evaluate({ code: '1 + 1' }).data).toBe(2)
})

test('names what an expression reads and does not have (rule 2)', () => {
  expect(evaluate({ expr: { total: 'price * cuont' } }, { price: 2, count: 3 })).toMatchObject({
    outcome: 'error',
    error: {
      kind: 'config',
      retryable: false,
      message:
        "The expression in expr.total reads 'cuont', which is not in its input. It has: price, count, input, execution_id, step.",
    },
  })
})

test('knows the execution and the step it runs in (rule 2)', () => {
  expect(dataOf('[execution_id, step]')).toEqual(['1000', 'try_it'])
})

test.each<[JsonObject, string, string]>([
  [{}, 'CONFIG', 'needs `expr`'],
  [{ expr: ' ' }, 'CONFIG', 'is empty'],
  [{ expr: '1 +' }, 'TEMPLATE', 'The expression in expr failed'],
  [{ expr: '[1][5:] | frobnicate' }, 'TEMPLATE', 'frobnicate'],
  [{ expr: 'a {{ b }}' }, 'CONFIG', 'without braces'],
])('refuses %j', (config, code, message) => {
  const { outcome, error } = evaluate(config)
  expect([outcome, error?.code]).toEqual(['error', code])
  expect(error?.message).toContain(message)
})

test('never evaluates text that came as data (rule 3)', () => {
  expect(dataOf('text', { text: '{{ 1 + 1 }} 2 + 2' })).toBe('{{ 1 + 1 }} 2 + 2')
})

test('runs in a playbook, where braces around the whole expression make no difference', async () => {
  const simulation = await runPlaybook(
    `
  - step: start
    tool: {kind: expression, expr: 'a + b', input: {a: '{{ 1 + 1 }}', b: 3}}
    next: [{step: end}]
  - step: end
    tool: {kind: expression, expr: {sum: '{{ sum }}', twice: 'sum * 2'}, input: {sum: '{{ start }}'}}
`,
    { tools: [expressionTool] },
  )
  expect(simulation.status()).toBe('COMPLETED')
  expect(simulation.events.at(-1)).toMatchObject({ result: { context: { data: { sum: 5, twice: 10 } } } })
})
