/** What the templates of a pipeline see, and what becomes of what they write. */
import { describe, expect, test } from 'vitest'

import type { Json, JsonObject } from '../../contract/json.ts'
import { echo, runTasks, when } from './test-support.ts'

/** The value that the last task of a pipeline gets for a template. */
const seenBy = async (
  template: Json,
  before: readonly Json[],
  variables: JsonObject = {},
  block: JsonObject = {},
) => {
  const tasks = [...before, { last: { kind: 'noop', ...block, result: template } }]
  const result = await runTasks(tasks, { over: { variables } })
  expect(result.error).toBeUndefined()
  return (result.data as JsonObject)['last']
}

describe('names', () => {
  test('facts hide input, input hides writes, writes hide labels, labels hide variables', async () => {
    const before = [
      { a: { kind: 'noop', result: 'label', set: { b: 'written', c: 'written' } } },
      { b: { kind: 'noop', result: 'label' } },
    ]
    const variables = { a: 'variable', b: 'variable', c: 'variable', d: 'variable', step: 'variable' }
    const input = { c: 'input', step: 'input' }
    const template = '{{ step }} {{ c }} {{ ctx.c }} {{ b }} {{ a }} {{ d }}'
    expect(await seenBy(template, before, variables, { input })).toBe(
      'try_it input written written label variable',
    )
  })

  test('a null hides what is below it', async () => {
    const before = [{ a: { kind: 'noop', set: { x: null } } }]
    expect(await seenBy(['{{ x }}', '{{ ctx.x }}'], before, { x: 1 })).toEqual([null, null])
    expect(await seenBy('{{ x }}', [], { x: 1 }, { input: { x: null } })).toBeNull()
  })

  test('the input as a whole is input and args; without any, variables of that name are seen', async () => {
    expect(
      await seenBy(['{{ input }}', '{{ args.x }}'], [], { input: 1 }, { input: { x: '{{ 2 }}' } }),
    ).toEqual([{ x: 2 }, 2])
    expect(await seenBy('{{ input }}', [], { input: 1 })).toBe(1)
  })

  test('input values are rendered against one snapshot and do not see each other', async () => {
    expect(await seenBy('{{ b }}', [], { a: 1 }, { input: { a: 2, b: '{{ a }}' } })).toBe(1)
  })

  test('the input of one task is not seen by the next', async () => {
    const before = [{ a: { kind: 'noop', input: { x: 1 }, result: '{{ x }}' } }]
    expect(await seenBy(['{{ a }}', '{{ x }}'], before)).toEqual([1, null])
  })

  test('results by label, _prev, facts of the command', async () => {
    const before = [{ a: { kind: 'noop', result: { x: 1 } } }]
    const template = [
      '{{ results.a.x }}',
      '{{ _prev.data.x }}',
      '{{ worker_id }}',
      '{{ job.uuid }}',
      '{{ ctx.execution_id }}',
      '{{ uuid4() }}',
    ]
    expect(await seenBy(template, before)).toEqual([1, 1, 'worker-1', '1000', '1000', 'a-uuid'])
    expect(await seenBy('{{ _prev is none }}', [])).toBe(true)
  })

  test('names that users like are theirs; the worker only fills the gap', async () => {
    expect(
      await seenBy(['{{ action }}', '{{ node_name }}', '{{ results }}'], [], {
        action: 1,
        node_name: 2,
        results: 3,
      }),
    ).toEqual([1, 2, 3])
    expect(await seenBy(['{{ action }}', '{{ node_name }}'], [])).toEqual(['task_sequence', 'try_it'])
  })

  test('output is the data itself in a task set, and undefined before the tool has answered', async () => {
    const before = [
      {
        a: {
          kind: 'noop',
          input: { early: '{{ output }}' },
          result: { rows: 2, early: '{{ early }}' },
          set: { x: ['{{ output.rows }}', '{{ output.data.rows }}', '{{ output }}'] },
        },
      },
    ]
    expect(await seenBy('{{ x }}', before)).toEqual([2, 2, { rows: 2, early: null }])
  })

  test('ctx as a whole is everything by name', async () => {
    const before = [{ a: { kind: 'noop', result: 1, set: { x: 2, 'iter.y': 3 } } }]
    expect(await seenBy('{{ ctx }}', before, { w: 0 })).toEqual({ w: 0, a: 1, x: 2, iter: { y: 3 } })
  })
})

describe('writes', () => {
  const exportsOf = async (...sets: JsonObject[]) => {
    const tasks = sets.map((set, index) => ({ [`t${index}`]: { kind: 'noop', set } }))
    return (await runTasks(tasks, { over: { variables: { known: { a: 1 } } } })).contextUpdates
  }

  test('all values of a set are rendered before any is written', async () => {
    expect(await exportsOf({ x: 1 }, { x: 2, y: '{{ x }}' })).toEqual({ x: 2, y: 1 })
  })

  test('keys are exported without their scope, nested ones with dots', async () => {
    expect(await exportsOf({ 'ctx.a': 1, b: 2, 'ctx.c.d': 3, 'e.f.g': 4, 'iter.h': 5, 'step.i': 6 })).toEqual(
      {
        a: 1,
        b: 2,
        'c.d': 3,
        'e.f.g': 4,
      },
    )
  })

  test('a new whole value replaces what was written inside of it, and comes last', async () => {
    const exports = await exportsOf({ 'ctx.a.b': 1, z: 0 }, { 'ctx.a': { c: 2 } }, { 'ctx.a.d': 3 })
    expect(Object.entries(exports ?? {})).toEqual([
      ['z', 0],
      ['a', { c: 2 }],
      ['a.d', 3],
    ])
  })

  test('a nested write extends what the name showed', async () => {
    const before = [{ a: { kind: 'noop', set: { 'ctx.known.b': 2, 'ctx.text.b': 3, 'iter.p.q': 4 } } }]
    const template = ['{{ known }}', '{{ ctx.text }}', '{{ iter }}']
    expect(await seenBy(template, before, { known: { a: 1 }, text: 'x', iter: { p: { r: 5 } } })).toEqual([
      { a: 1, b: 2 },
      { b: 3 },
      { p: { r: 5, q: 4 } },
    ])
  })

  test('a rule sees what the task set has written', async () => {
    const rules = [when('{{ x == 1 }}', { set: { y: '{{ x + 1 }}' } })]
    const tasks = [{ a: { kind: 'noop', set: { x: 1 }, spec: { policy: { rules } } } }]
    expect((await runTasks(tasks)).contextUpdates).toEqual({ x: 1, y: 2 })
  })

  test('names of prototypes are names like any other', async () => {
    const tasks = [
      {
        name: '__proto__',
        kind: 'noop',
        result: 1,
        set: { '__proto__.polluted': true, 'ctx.constructor.x': 2 },
      },
      { name: 'b', kind: 'noop', result: ['{{ polluted }}', '{{ toString }}', '{{ constructor.x }}'] },
    ]
    const { data } = await runTasks(tasks)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(Object.keys(data as object)).toEqual(['__proto__', 'b'])
    expect((data as JsonObject)['b']).toEqual([null, null, 2])
  })
})

describe('data is never a template', () => {
  const hostile = '{{ 7 * 7 }}{% for x in y %}'

  test('text of a result stays literal through two more tasks, in every position', async () => {
    const tasks = [
      { a: { kind: 'noop', result: '{{ page }}', set: { 'ctx.copy': '{{ output }}' } } },
      {
        b: {
          kind: 'echo',
          input: { body: '{{ a }}', mixed: 'x{{ copy }}' },
          url: '{{ a }}',
          deep: [{ k: '{{ ctx.copy }}' }],
        },
      },
      {
        c: {
          kind: 'echo',
          input: { body: '{{ b.input.body }}' },
          url: '{{ b.config.url }}',
          whole: '{{ body }}',
        },
      },
    ]
    const result = await runTasks(tasks, { tools: [echo], over: { variables: { page: hostile } } })
    expect(result.data).toEqual({
      a: hostile,
      b: { config: { url: hostile, deep: [{ k: hostile }] }, input: { body: hostile, mixed: `x${hostile}` } },
      c: { config: { url: hostile, whole: hostile }, input: { body: hostile } },
    })
    expect(result.contextUpdates).toEqual({ copy: hostile })
  })

  test('neither are step input and iteration variables', async () => {
    const over = {
      context: {
        tool_config: [{ a: { kind: 'echo', seen: '{{ item }}' } }],
        args: { item: hostile, _index: 0, _total: 1, more: hostile },
        render_context: {},
      },
      meta: { iteration_index: 0, iteration_total: 1, item_var: 'item' },
    }
    expect((await runTasks([], { tools: [echo], over })).data).toEqual({
      a: { config: { seen: hostile }, input: { item: hostile, _index: 0, _total: 1, more: hostile } },
    })
  })

  test('code whose braces are no template stays as it is', async () => {
    const code = 'print(f"{{{x}}} {{ {1: 2} }")'
    expect((await runTasks([{ a: { kind: 'echo', code } }], { tools: [echo] })).data).toMatchObject({
      a: { config: { code } },
    })
  })
})
