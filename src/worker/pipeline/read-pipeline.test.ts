/** How a pipeline travels: the shapes in which its tasks are written, and what of a task reaches its tool. */
import { describe, expect, test } from 'vitest'

import type { Tool } from '../tool.ts'
import { aPipeline, echo, runnerOf, runTasks } from './test-support.ts'

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
