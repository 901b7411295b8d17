/** The spellings of policy rules, and conditions that fail. */
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

import type { Json } from '../../contract/json.ts'
import { always, createWarnings, runTasks, when } from './test-support.ts'

/** One task `a` with rules, and a task `b` after it. */
const withRules = (rules: Json, kind = 'noop'): Json => [
  { a: { kind, result: 1, spec: { policy: { rules } } } },
  { b: { kind: 'noop', result: 2 } },
]

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
