/** Why steps ran, did not run, or wait. Numbers are those of the header of explain.ts. */
import { describe, expect, it } from 'vitest'
import { evolve } from './evolve.ts'
import type { Explanation } from './explain.ts'
import { createExplainer } from './explain.ts'
import { explanationText } from './explain-text.ts'
import { createForkFold, seedOf } from './fork.ts'
import type { Graph } from './graph.ts'
import { createState } from './state.ts'
import type { Happening } from './testing/inputs.ts'
import { cancelled, claimed, completed, failed, parked, started } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation, EXECUTION_ID } from './testing/simulation.ts'

const NOOP = 'tool: {kind: noop}'

const explain = (
  graph: Graph,
  past: readonly Happening[],
  step: string,
  run: number | null = null,
): Explanation | null => {
  const simulation = createSimulation(graph)
  for (const each of past) simulation.tell(each)
  const state = createState(EXECUTION_ID)
  const explainer = createExplainer(graph, step, () => undefined)
  for (const event of simulation.events) {
    explainer.observe(state, event)
    evolve(state, event)
  }
  return explainer.explain(state, run)
}

const text = (graph: Graph, past: readonly Happening[], step: string, run: number | null = null): string => {
  const explanation = explain(graph, past, step, run)
  return explanation ? explanationText(explanation) : 'nothing'
}

const branch = aPlaybook(`
  - step: start
    ${NOOP}
    set: {ctx.seen: '{{ output.score }}'}
    next:
      spec: {mode: exclusive}
      arcs:
        - {step: high, when: '{{ output.score > 10 and ctx.seen > 10 }}', set: {ctx.seen: 0}}
        - {step: low}
  - {step: high, ${NOOP}}
  - {step: low, ${NOOP}, next: later}
  - {step: later, ${NOOP}}`)

describe('a step that ran', () => {
  it('names the arc that led to it, with the values its condition saw (1)', () => {
    const found = explain(branch, [started(), completed('start', { score: 12 }), completed('high')], 'high')
    expect(found).toMatchObject({
      verdict: 'completed',
      run: 1,
      arcs: [
        {
          from: 'start',
          fired: true,
          reason: 'condition_true',
          // Before the `set` of the arc itself.
          values: { 'output.score': 12, 'ctx.seen': 12 },
          evaluatedAgain: true,
        },
      ],
    })
    expect(found && explanationText(found)).toBe(
      'high ran and completed\n  the arc from start fired: its condition {{ output.score > 10 and ctx.seen > 10 }} was true (output.score = 12, ctx.seen = 12)',
    )
  })

  it('says so when it is the entry', () => {
    expect(text(branch, [started()], 'start')).toBe(
      'start is running\n  it is the entry step\n  its command waits for a worker',
    )
  })

  it('says who holds its command, or what it waits for', () => {
    expect(text(branch, [started(), claimed('start', 'w1', '1')], 'start')).toContain(
      'its command is held by w1',
    )
    expect(text(branch, [started(), parked('start')], 'start')).toContain('waits for an answer from outside')
  })

  it('tells how it failed', () => {
    expect(text(branch, [started(), failed('start', 'no way')], 'start')).toBe(
      'start ran and failed: no way\n  it is the entry step',
    )
  })

  it('of a given run speaks of that one (2)', () => {
    const cycle = aPlaybook(`
  - step: start
    ${NOOP}
    set: {ctx.n: '{{ (ctx.n | default(0)) + 1 }}'}
    next: {arcs: [{step: start, when: '{{ ctx.n < 3 }}'}]}`)
    const past = [started(), completed('start'), completed('start'), completed('start')]
    expect(explain(cycle, past, 'start', 2)).toMatchObject({
      run: 2,
      arcs: [{ from: 'start', fromRun: 1, fired: true, values: { 'ctx.n': 1 } }],
    })
    expect(explain(cycle, past, 'start')).toMatchObject({ run: 3 })
    expect(explain(cycle, past, 'start', 4)).toBeNull()
  })
})

describe('a step that did not run', () => {
  it('names the condition that did not hold', () => {
    const past = [started(), completed('start', { score: 3 })]
    expect(explain(branch, past, 'high')).toMatchObject({
      verdict: 'skipped',
      arcs: [
        {
          from: 'start',
          fired: false,
          reason: 'condition_false',
          values: { 'output.score': 3, 'ctx.seen': 3 },
        },
      ],
    })
    expect(text(branch, [started(), completed('start', { score: 12 })], 'low')).toContain(
      'the arc from start did not fire: an arc before it fired, and only the first one is taken',
    )
  })

  it('names its own condition', () => {
    const guarded = aPlaybook(`
  - {step: start, ${NOOP}, next: b}
  - {step: b, when: '{{ start.ok }}', ${NOOP}}`)
    expect(text(guarded, [started(), completed('start', { ok: false })], 'b')).toBe(
      'b was bypassed: its own condition was false\n  the arc from start fired: it has no condition\n  its own when {{ start.ok }} was false (start.ok = false)',
    )
  })

  it('names the failure that blocks it', () => {
    const found = explain(
      branch,
      [started(), completed('start', { score: 1 }), failed('low', 'gone')],
      'later',
    )
    expect(found).toMatchObject({
      verdict: 'blocked',
      failedUpstreams: [{ step: 'low', error: 'gone' }],
      arcs: [{ from: 'low', fired: false, reason: 'failure_not_read' }],
    })
  })

  it('that nothing has led to yet says how its upstreams stand', () => {
    expect(text(branch, [started()], 'later')).toBe(
      'later has not been reached\n  low, which leads here, has not been reached',
    )
  })

  it('was stopped when the execution ended under it', () => {
    expect(explain(branch, [started(), cancelled()], 'start')).toMatchObject({ verdict: 'stopped' })
  })
})

describe('a step that waits (3)', () => {
  const join = aPlaybook(`
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}, next: join}
  - {step: b, ${NOOP}, next: c}
  - {step: c, ${NOOP}, next: join}
  - {step: join, ${NOOP}}`)

  it('names what arrived and what is missing, and because of whom', () => {
    const past = [started(), completed('start'), completed('a')]
    expect(explain(join, past, 'join')).toMatchObject({
      verdict: 'waits',
      join: { arrived: ['a'], missing: [{ from: 'c', because: ['b'] }] },
    })
    expect(text(join, past, 'join')).toContain('c may still arrive: b can lead there')
  })
})

describe('a loop that goes on', () => {
  const each = aPlaybook(`
  - {step: start, ${NOOP}, next: each}
  - {step: each, loop: {in: [1, 2], iterator: item}, ${NOOP}, next: after}
  - {step: after, ${NOOP}}`)
  const broken = [started(), completed('start'), completed('each#0', 1), failed('each#1', 'no')]
  const retried: Happening = () => ({ type: 'reopen', steps: null, variables: {}, reason: null })

  it('is explained by the retry that went on with it, and by how that came out (4)', () => {
    expect(text(each, broken, 'each')).toBe(
      'each ran and failed: no\n  the arc from start fired: it has no condition',
    )
    expect(text(each, [...broken, retried], 'each')).toBe(
      'each (run 2) is running\n  it was run again by a retry\n  its iteration 1 waits for a worker',
    )
    const mended = [...broken, retried, completed('each#1', 2)]
    expect(text(each, mended, 'each')).toBe('each (run 2) ran and completed\n  it was run again by a retry')
    expect(text(each, mended, 'each', 1)).toContain('each ran and failed: no')
    expect(text(each, mended, 'after')).toContain('the arc from each (run 2) fired')
  })

  it('is explained by the rerun that kept it (4)', () => {
    const simulation = createSimulation(each)
    for (const happening of broken) simulation.tell(happening)
    const fold = createForkFold(each, EXECUTION_ID, { type: 'failed' })
    for (const event of simulation.events) fold.add(event)
    const seed = seedOf(fold.finish())
    const forked = started({}, { seed, origin: { executionId: '1', eventId: null, position: 0 } })
    expect(text(each, [forked, completed('each#1', 2)], 'each')).toBe(
      'each (run 2) ran and completed\n  the rerun began here',
    )
    expect(text(each, [forked], 'start')).toBe(
      'start did not run here: its result was kept from the execution that this one reruns',
    )
  })
})

describe('a step that the end of the execution stopped', () => {
  it('is told as stopped to the steps behind it', () => {
    const past = [started(), cancelled()]
    expect(text(branch, past, 'start')).toContain('start was stopped by the end of the execution')
    expect(text(branch, past, 'high')).toBe(
      'high has not been reached\n  start, which leads here, was stopped by the end of the execution',
    )
  })
})
