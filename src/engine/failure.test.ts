/** What follows a failed step: eligible arcs, handling, blocked joins, the end of the execution. */
import { describe, expect, it } from 'vitest'
import type { Graph } from './graph.ts'
import { completed, failed, started } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation, runThrough } from './testing/simulation.ts'
import { given } from './testing/specification.ts'

const NOOP = 'tool: {kind: noop}'
const noop = (): null => null
const failing =
  (...names: readonly string[]) =>
  (name: string): null | Error =>
    names.includes(name) ? new Error(`${name} is broken`) : null

describe('a failed step', () => {
  it('does not follow unconditional arcs, and the execution ends FAILED in the same turn', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: b}
  - {step: b, ${NOOP}}`)
    const { turn, simulation } = given(graph, [started()])
      .when(failed('start', 'no disk'))
      .thenEvents(
        'command.failed start',
        'step.exit start failed: no disk',
        'step.skipped b (upstream_failed)',
        "playbook.failed Step 'start' failed: no disk",
      )
    expect(turn.events.at(-1)?.result).toEqual({
      status: 'FAILED',
      context: { data: null, error: "Step 'start' failed: no disk", failed_steps: ['start'] },
    })
    expect(turn.events.at(-1)?.meta).toEqual({ emitted_by: 'orchestrator', failed_steps: ['start'] })
    expect(simulation.state()).toMatchObject({ status: 'FAILED', error: "Step 'start' failed: no disk" })
  })

  /** The step that `start` leads to when it fails and has this guard. */
  const handledBy = (guard: string, more = ''): string | undefined => {
    const graph = aPlaybook(
      `
  - step: start
    ${NOOP}
    ${more}
    next: {arcs: [{step: h${guard === '' ? '' : `, when: "${guard}"`}}]}
  - {step: h, ${NOOP}}`,
      'workload: {flag: true}',
    )
    const simulation = runThrough(graph, failing('start'), started())
    expect(simulation.status()).toBe(simulation.runs()[1] === undefined ? 'FAILED' : 'COMPLETED')
    return simulation.runs()[1]
  }

  it('follows arcs whose guard reads the outcome, by any of its names (route rule 2)', () => {
    for (const guard of [
      "{{ output.status == 'error' }}",
      "{{ event.name == 'call.error' }}",
      "{{ event.name == 'step.failed' }}",
      "{{ error.kind == 'test' }}",
      "{{ output.error.code == 'TEST' and output.error.message == 'start is broken' }}",
      '{{ result is not defined }}',
      '{{ response is not defined }}',
      '{{ start is not defined }}',
      "output.status == 'error'",
    ]) {
      expect(handledBy(guard), guard).toBe('h')
    }
  })

  it('case 99: a failure whose guard asks for call.error runs the handler, and the execution completes', () => {
    expect(handledBy("{{ event.name == 'call.error' }}")).toBe('h')
  })

  it('does not follow arcs whose guard reads anything else, even when it is true', () => {
    expect(handledBy('{{ flag }}')).toBeUndefined()
    expect(handledBy('{{ true }}')).toBeUndefined()
    expect(handledBy('')).toBeUndefined()
  })

  it('is not handled by an arc that reads the outcome and does not fire', () => {
    expect(handledBy("{{ output.status == 'success' }}")).toBeUndefined()
  })

  it('on_error continue makes every arc eligible', () => {
    expect(handledBy('', 'spec: {on_error: continue}')).toBe('h')
    expect(handledBy('{{ flag }}', 'spec: {on_error: continue}')).toBe('h')
  })

  it('on_error continue counts as handled even when no arc fires', () => {
    const graph = aPlaybook(`  - {step: start, ${NOOP}, spec: {on_error: continue}}`)
    given(graph, [started()])
      .when(failed('start'))
      .thenEvents('command.failed start', 'step.exit start handled', 'playbook.completed null')
  })

  it('exclusive: the first eligible true arc; inclusive: all of them', () => {
    const routed = (mode: string): readonly string[] =>
      runThrough(
        aPlaybook(`
  - step: start
    ${NOOP}
    next: {spec: {mode: ${mode}}, arcs: [{step: a}, {step: b, when: '{{ output.error }}'}, {step: c, when: '{{ error }}'}]}
  - {step: a, ${NOOP}}
  - {step: b, ${NOOP}}
  - {step: c, ${NOOP}}`),
        failing('start'),
        started(),
      ).runs()
    expect(routed('exclusive')).toEqual(['start', 'b'])
    expect(routed('inclusive')).toEqual(['start', 'b', 'c'])
  })

  it('shows handlers the partial data and the error; a step without data has no value', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: {arcs: [{step: h, when: '{{ error }}'}]}}
  - {step: h, tool: {kind: noop, input: {n: '{{ start.n }}', status: '{{ steps.start.status }}'}}}`)
    const withData = createSimulation(graph)
    withData.tell(started())
    withData.tell(failed('start', 'x', { n: 3 }))
    expect(withData.issued('h').context).toMatchObject({ args: { n: 3, status: 'FAILED' } })
    const without = runThrough(graph, failing('start'), started())
    expect(without.issued('h').context).toMatchObject({ args: { n: null, status: null } })
  })

  it('a list of names needs on_error continue to go on', () => {
    const graph = (spec: string): Graph =>
      aPlaybook(`
  - {step: start, ${NOOP}, spec: ${spec}, next: [a, b]}
  - {step: a, ${NOOP}}
  - {step: b, ${NOOP}}`)
    expect(runThrough(graph('{}'), failing('start'), started()).runs()).toEqual(['start'])
    expect(runThrough(graph('{on_error: continue}'), failing('start'), started()).runs()).toEqual([
      'start',
      'a',
      'b',
    ])
  })
})

describe('an unhandled failure beside other branches', () => {
  const branches = aPlaybook(`
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}, next: a2}
  - {step: a2, ${NOOP}}
  - {step: b, ${NOOP}, next: b2}
  - {step: b2, ${NOOP}}`)

  it('case 100: the other branch finishes, then exactly one playbook.failed ends the execution', () => {
    given(branches, [started(), completed('start')])
      .when(failed('a', 'no'))
      .thenEvents('command.failed a', 'step.exit a failed: no', 'step.skipped a2 (upstream_failed)')
    const simulation = runThrough(branches, failing('a'), started())
    expect(simulation.runs()).toEqual(['start', 'a', 'b', 'b2'])
    expect(simulation.lines().filter((line) => line.startsWith('playbook.'))).toEqual([
      "playbook.failed Step 'a' failed: a is broken",
    ])
  })

  it('names all failed steps and the first error', () => {
    const simulation = runThrough(branches, failing('a', 'b'), started())
    expect(simulation.events.at(-1)?.result?.context).toEqual({
      data: null,
      error: "Step 'a' failed: a is broken",
      failed_steps: ['a', 'b'],
    })
  })

  const joined = aPlaybook(`
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}, next: a2}
  - {step: a2, ${NOOP}, next: j}
  - {step: b, ${NOOP}, next: j}
  - {step: j, ${NOOP}, next: k}
  - {step: k, ${NOOP}}`)

  it('a join with a failed upstream does not start (ready rule 2)', () => {
    for (const broken of ['a2', 'b']) {
      const simulation = runThrough(joined, failing(broken), started())
      expect(simulation.runs()).not.toContain('j')
      expect(simulation.lines()).toContain('step.skipped j (upstream_failed)')
      expect(simulation.status()).toBe('FAILED')
    }
  })

  it('a join is blocked as well when the failure is further up (ready rule 2)', () => {
    const simulation = runThrough(joined, failing('a'), started())
    expect(simulation.runs()).toEqual(['start', 'a', 'b'])
    expect(simulation.lines().filter((line) => line.startsWith('step.skipped'))).toEqual([
      'step.skipped a2 (upstream_failed)',
      'step.skipped j (upstream_failed)',
      'step.skipped k (upstream_failed)',
    ])
  })

  it('a join is not blocked by a failure that was handled', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}, next: {arcs: [{step: h, when: '{{ error }}'}, {step: j}]}}
  - {step: h, ${NOOP}}
  - {step: b, ${NOOP}, next: j}
  - {step: j, ${NOOP}}`)
    const simulation = runThrough(graph, failing('a'), started())
    expect(simulation.runs()).toEqual(['start', 'a', 'b', 'h', 'j'])
    expect(simulation.status()).toBe('COMPLETED')
  })

  it('a join is not blocked by a handled failure when another branch failed unhandled', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: [a, b, lost]}
  - {step: lost, ${NOOP}}
  - {step: a, ${NOOP}, next: {arcs: [{step: h, when: '{{ error }}'}, {step: j}]}}
  - {step: h, ${NOOP}}
  - {step: b, ${NOOP}, next: j}
  - {step: j, ${NOOP}}`)
    const simulation = runThrough(graph, failing('a', 'lost'), started())
    expect(simulation.runs()).toContain('j')
    expect(simulation.state().error).toBe("Step 'lost' failed: lost is broken")
  })

  it('blocks what comes after a join that was blocked in a later round of a cycle', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, set: {ctx.n: 0}, next: head}
  - {step: head, ${NOOP}, set: {ctx.n: '{{ ctx.n + 1 }}'}, next: [a, b, c]}
  - {step: a, ${NOOP}, next: j}
  - {step: b, ${NOOP}, next: j}
  - {step: c, ${NOOP}, next: k}
  - {step: j, ${NOOP}, next: {spec: {mode: inclusive}, arcs: [{step: head, when: '{{ ctx.n < 2 }}'}, {step: k}]}}
  - {step: k, ${NOOP}}`)
    const simulation = runThrough(
      graph,
      (name, { run }) => (name === 'a' && run === 2 ? new Error('no') : null),
      started(),
    )
    expect(simulation.runs().filter((name) => name === 'k')).toHaveLength(1)
    expect(simulation.lines().filter((line) => line.startsWith('step.skipped'))).toEqual([
      'step.skipped j (upstream_failed)',
      'step.skipped k (upstream_failed)',
    ])
  })

  it('a join is not blocked by a failure behind a step that ran', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}, next: {arcs: [{step: x, when: '{{ error }}'}]}}
  - {step: x, ${NOOP}, next: j}
  - {step: b, ${NOOP}, next: j}
  - {step: j, ${NOOP}}`)
    expect(runThrough(graph, failing('a'), started()).runs()).toEqual(['start', 'a', 'b', 'x', 'j'])
  })

  it('fail_fast starts nothing new at all; what runs may finish', () => {
    const graph = aPlaybook(
      `
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}}
  - {step: b, ${NOOP}, next: b2}
  - {step: b2, ${NOOP}}`,
      'executor: {spec: {policy: {failure: {mode: fail_fast}}}}',
    )
    const simulation = runThrough(graph, failing('a'), started())
    expect(simulation.runs()).toEqual(['start', 'a', 'b'])
    expect(simulation.lines()).toContain('step.skipped b2 (upstream_failed)')
    expect(runThrough(graph, noop, started()).runs()).toEqual(['start', 'a', 'b', 'b2'])
  })
})

describe('no_next_is_error', () => {
  const graph = (start: string): Graph =>
    aPlaybook(
      `
  - {step: start, ${start}, next: {arcs: [{step: b, when: '{{ output.go }}'}]}}
  - {step: b, ${NOOP}}`,
      'executor: {spec: {no_next_is_error: true}}',
    )

  it('case 45: arcs exist, none matched: the execution fails', () => {
    given(graph(NOOP), [started()])
      .when(completed('start', { go: false }))
      .thenEvents(
        'command.completed start',
        "step.exit start failed: No arc of step 'start' matched",
        'step.skipped b (dead_path)',
        "playbook.failed Step 'start' failed: No arc of step 'start' matched",
      )
  })

  it('leaves leaves alone', () => {
    const simulation = runThrough(graph(NOOP), () => ({ go: true }), started())
    expect(simulation.status()).toBe('COMPLETED')
  })

  it('holds for a failure that the step goes on over, too', () => {
    const simulation = runThrough(graph(`${NOOP}, spec: {on_error: continue}`), failing('start'), started())
    expect(simulation.state().error).toBe("Step 'start' failed: No arc of step 'start' matched")
  })
})
