/** Failures of a task: those that its policy sees, and those that no policy can handle. */
import { describe, expect, test } from 'vitest'

import { always, echo, error, runTasks, scripted, toolOf, when } from './test-support.ts'

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
