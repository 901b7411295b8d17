import { expect, test } from 'vitest'

import { parsePlaybook } from './parse.ts'

const parse = (tool: string) =>
  parsePlaybook(`apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: t, path: t}
workflow:
  - step: start
    tool: ${tool}
`)

test('an expression that does not compile is an error at its place (rule 1)', () => {
  const result = parse('{kind: expression, expr: "1 +"}')
  expect(result).toMatchObject({
    ok: false,
    problems: [{ code: 'EXPRESSION', severity: 'error', line: 6 }],
  })
})

test('names that neither the input nor the run defines are warned about (rule 1)', () => {
  const result = parse('{kind: expression, expr: "price * cuont", input: {price: 1, count: 2}}')
  expect(result).toMatchObject({
    ok: true,
    warnings: [{ message: expect.stringContaining('cuont') as string }],
  })
})

test('braces around the whole of it are left out (rule 2)', () => {
  const result = parse('{kind: expression, expr: {a: "{{ n + 1 }}", b: ["n"]}, input: {n: 1}}')
  expect(result.ok && result.playbook.steps[0]?.body.tasks[0]?.config).toEqual({
    expr: { a: 'n + 1', b: ['n'] },
  })
})

test.each(['"{{ a }} and {{ b }}"', '"a + {{ b }}"', '"{% if a %}1{% endif %}"'])(
  'templates inside the text are refused: %s (rule 3)',
  (expr) => {
    const result = parse(`{kind: expression, expr: ${expr}, input: {a: 1, b: 2}}`)
    expect(result).toMatchObject({ ok: false, problems: [{ code: 'EXPRESSION', severity: 'error' }] })
  },
)
