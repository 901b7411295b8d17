/** Arcs that lead back: each entry is a new run, variables carry the state of the cycle. */
import { describe, expect, it } from 'vitest'
import { completed, failed, started } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation, runThrough } from './testing/simulation.ts'

const NOOP = 'tool: {kind: noop}'
const noop = (): null => null

describe('a cycle', () => {
  it('case 62: runs its body as often as the counter says, and the exit once', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, set: {ctx.n: 0}, next: body}
  - {step: body, tool: {kind: noop, input: {n: '{{ ctx.n }}'}}, set: {ctx.n: '{{ ctx.n + 1 }}'}, next: gate}
  - step: gate
    ${NOOP}
    next: {arcs: [{step: body, when: '{{ ctx.n < 3 }}'}, {step: done}]}
  - {step: done, ${NOOP}}`)
    const seen: unknown[] = []
    const simulation = createSimulation(graph)
    simulation.tell(started())
    while (simulation.status() === 'RUNNING') {
      const [name = ''] = simulation.open()
      if (name === 'body') seen.push((simulation.issued(name).context as { args: unknown }).args)
      simulation.tell(completed(name))
    }
    expect(simulation.runs()).toEqual(['start', 'body', 'gate', 'body', 'gate', 'body', 'gate', 'done'])
    expect(seen).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }])
    expect(simulation.lines().some((line) => line.startsWith('step.skipped'))).toBe(false)
  })

  it('case 63: may be a single step that leads to itself', () => {
    const graph = aPlaybook(`
  - step: start
    ${NOOP}
    set: {ctx.n: '{{ (ctx.n | default(0)) + 1 }}'}
    next: {arcs: [{step: start, when: '{{ ctx.n < 3 }}'}, {step: exit}]}
  - {step: exit, ${NOOP}}`)
    expect(runThrough(graph, noop, started()).runs()).toEqual(['start', 'start', 'start', 'exit'])
  })

  const FAN_IN_CYCLE = `
  - {step: start, ${NOOP}, set: {ctx.n: 0}, next: head}
  - {step: head, ${NOOP}, set: {ctx.n: '{{ ctx.n + 1 }}'}, next: [a, b, log]}
  - {step: a, ${NOOP}, next: join}
  - {step: b, ${NOOP}, next: join}
  - {step: log, ${NOOP}}
  - step: join
    ${NOOP}
    next: {arcs: [{step: head, when: '{{ ctx.n < 3 }}'}, {step: exit}]}
  - {step: exit, ${NOOP}}`

  it('case 64: joins the branches of its body once per round', () => {
    const runs = runThrough(aPlaybook(FAN_IN_CYCLE), noop, started()).runs()
    expect(runs.filter((name) => name === 'join')).toHaveLength(3)
    expect(runs.filter((name) => name === 'a')).toHaveLength(3)
    expect(runs.filter((name) => name === 'exit')).toHaveLength(1)
    for (const [index, name] of runs.entries()) {
      if (name === 'join') expect(runs.slice(index - 3, index).sort()).toEqual(['a', 'b', 'log'])
    }
  })

  it('case 65: a step that hangs off it runs every round', () => {
    const runs = runThrough(aPlaybook(FAN_IN_CYCLE), noop, started()).runs()
    expect(runs.filter((name) => name === 'log')).toHaveLength(3)
  })

  it('starts a step again only after its run ended: what arrives meanwhile waits', () => {
    const simulation = createSimulation(aPlaybook(FAN_IN_CYCLE))
    simulation.tell(started())
    for (const name of ['start', 'head', 'a', 'b', 'join', 'head']) simulation.tell(completed(name))
    // The first `log` still runs while the second round is under way.
    expect(simulation.open().filter((name) => name === 'log')).toHaveLength(1)
    expect(simulation.tell(completed('log')).lines).toEqual([
      'command.completed log',
      'step.exit log',
      'step.enter log',
      'command.issued log',
    ])
  })

  it('case 66: an endless one fails at the limit of runs per step, with the reason', () => {
    const graph = aPlaybook(`  - {step: start, ${NOOP}, next: {arcs: [{step: start}]}}`)
    const simulation = runThrough(graph, noop, started(), { limits: { runsPerStep: 5 } })
    expect(simulation.status()).toBe('FAILED')
    expect(simulation.runs()).toHaveLength(5)
    expect(simulation.state().error).toBe(
      "Orchestrator evaluate failed: Step 'start': ran 5 times, the most a step may run in one execution",
    )
  })

  it('case 66: an endless one of steps without tools ends within its turn', () => {
    const graph = aPlaybook('  - {step: start, next: b}\n  - {step: b, next: start}')
    const simulation = createSimulation(graph, { limits: { runsPerExecution: 50 } })
    simulation.tell(started())
    expect(simulation.status()).toBe('FAILED')
    expect(simulation.state().error).toBe(
      "Orchestrator evaluate failed: Step 'start': would be run 51 of the execution, which may have 50",
    )
  })

  it('shows the result of the latest run', () => {
    const graph = aPlaybook(`
  - step: start
    ${NOOP}
    next: {arcs: [{step: start, when: '{{ output.n < 2 }}'}, {step: b}]}
  - {step: b, tool: {kind: noop, input: {n: '{{ start.n }}'}}}`)
    const simulation = createSimulation(graph)
    simulation.tell(started())
    simulation.tell(completed('start', { n: 1 }))
    simulation.tell(completed('start', { n: 2 }))
    expect(simulation.issued('b').context).toMatchObject({ args: { n: 2 } })
  })

  it('does not show the result of an earlier run as output of a run that failed without data', () => {
    const graph = aPlaybook(`
  - step: start
    ${NOOP}
    next:
      arcs:
        - {step: start, when: "{{ output.status == 'success' }}"}
        - {step: stale, when: '{{ output.data is not none or output.n is defined or start is defined }}'}
        - {step: clean, when: "{{ output.status == 'error' }}"}
  - {step: stale, ${NOOP}}
  - {step: clean, ${NOOP}}`)
    const simulation = createSimulation(graph)
    simulation.tell(started())
    simulation.tell(completed('start', { n: 1 }))
    simulation.tell(failed('start'))
    expect(simulation.open()).toEqual(['clean'])
  })

  it('when two joins wait for each other, the one that comes first in the walk starts (ready rule 3)', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: [x, y]}
  - {step: x, ${NOOP}, next: left}
  - {step: y, ${NOOP}, next: right}
  - {step: left, ${NOOP}, next: {arcs: [{step: right, when: '{{ false }}'}]}}
  - {step: right, ${NOOP}, next: {arcs: [{step: left, when: '{{ false }}'}]}}`)
    expect(runThrough(graph, noop, started()).runs()).toEqual(['start', 'x', 'y', 'left', 'right'])
  })
})
