/** Arcs that lead back. */
import { expect, test } from 'vitest'
import { EVENT } from '../../src/contract/event.ts'
import { DEFAULT_LIMITS } from '../../src/engine/session.ts'
import type { PlaybookRun } from '../support/playbook-run.ts'
import { useProduct } from '../support/playbook-run.ts'

const { run } = useProduct()

const times = ({ runs }: PlaybookRun, step: string): number => runs.filter((name) => name === step).length

/** The data a step gave, run by run. */
const dataOf = ({ events }: PlaybookRun, step: string): readonly unknown[] =>
  events
    .filter((event) => event.eventType === EVENT.commandCompleted && event.nodeName === step)
    .map(
      (event) =>
        (event.result?.context?.['result'] as { context?: { data?: unknown } } | undefined)?.context?.data,
    )

test('case 62: a counter loop over two steps runs its body three times and the exit once', async () => {
  const found = await run({
    top: 'workload: { n: 0 }',
    steps: `
      - { step: start, tool: { kind: noop }, next: body }
      - { step: body, tool: { kind: python, input: { n: "{{ ctx.n }}" }, code: "result = n" }, next: gate }
      - step: gate
        tool: { kind: noop }
        set: { ctx.n: "{{ ctx.n + 1 }}" }
        next: { arcs: [ { step: body, when: "{{ ctx.n < 3 }}" }, { step: done } ] }
      - { step: done, tool: { kind: noop } }`,
  })
  expect(found.status).toBe('COMPLETED')
  expect(found.runs).toEqual(['start', 'body', 'gate', 'body', 'gate', 'body', 'gate', 'done'])
  expect(dataOf(found, 'body')).toEqual([0, 1, 2])
  expect(found.skipped).toEqual([])
})

test('case 63: a step that leads to itself runs three times, then the exit', async () => {
  const { status, runs } = await run({
    top: 'workload: { n: 0 }',
    steps: `
      - step: start
        tool: { kind: noop }
        set: { ctx.n: "{{ ctx.n + 1 }}" }
        next: { arcs: [ { step: start, when: "{{ ctx.n < 3 }}" }, { step: done } ] }
      - { step: done, tool: { kind: noop } }`,
  })
  expect({ status, runs }).toEqual({ status: 'COMPLETED', runs: ['start', 'start', 'start', 'done'] })
})

test('case 64: the join inside a cycle runs once per round, after both branches', async () => {
  const found = await run({
    top: 'workload: { n: 0 }',
    steps: `
      - { step: start, tool: { kind: noop }, next: fan }
      - { step: fan, tool: { kind: noop }, next: [a, b] }
      - { step: a, tool: { kind: python, input: { n: "{{ ctx.n }}" }, code: "result = ['a', n]" }, next: j }
      - { step: b, tool: { kind: noop, result: ["b", "{{ ctx.n }}"] }, next: j }
      - step: j
        tool: { kind: noop, result: ["{{ a[1] }}", "{{ b[1] }}"] }
        set: { ctx.n: "{{ ctx.n + 1 }}" }
        next: { arcs: [ { step: fan, when: "{{ ctx.n < 3 }}" }, { step: done } ] }
      - { step: done, tool: { kind: noop } }`,
  })
  expect(found.status).toBe('COMPLETED')
  expect(dataOf(found, 'j')).toEqual([
    [0, 0],
    [1, 1],
    [2, 2],
  ])
  expect(times(found, 'done')).toBe(1)
})

test('case 65: a step that hangs off a cycle runs every round', async () => {
  const found = await run({
    top: 'workload: { n: 0 }',
    steps: `
      - step: start
        tool: { kind: noop }
        set: { ctx.n: "{{ ctx.n + 1 }}" }
        next: { spec: { mode: inclusive }, arcs: [ { step: log }, { step: again, when: "{{ ctx.n < 3 }}" } ] }
      - { step: again, tool: { kind: noop }, next: start }
      - { step: log, tool: { kind: noop } }`,
  })
  expect(found.status).toBe('COMPLETED')
  expect([times(found, 'start'), times(found, 'log')]).toEqual([3, 3])
})

test('case 66: an endless cycle fails at the limit of runs, with the reason', async () => {
  const found = await run(`
    - { step: start, tool: { kind: noop }, next: round }
    - { step: round, next: round }`)
  expect(found.status).toBe('FAILED')
  expect(found.error).toContain(`'round': ran ${DEFAULT_LIMITS.runsPerStep} times`)
  expect(times(found, 'round')).toBe(DEFAULT_LIMITS.runsPerStep)
})
