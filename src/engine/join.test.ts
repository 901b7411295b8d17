/** Guards of steps, skips and joins: when a step with several ways in may start. */
import { describe, expect, it } from 'vitest'
import { completed, started } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation, runThrough } from './testing/simulation.ts'
import { given } from './testing/specification.ts'

const NOOP = 'tool: {kind: noop}'
const noop = (): null => null

describe('a step whose own guard is false', () => {
  it('case 52: is bypassed, and its arcs are followed in the same turn', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: a}
  - {step: a, when: '{{ false }}', ${NOOP}, set: {ctx.written: 1}, next: b}
  - {step: b, tool: {kind: noop, input: {seen: '{{ a is defined }}', written: '{{ written }}'}}}`)
    const { simulation } = given(graph, [started()])
      .when(completed('start'))
      .thenEvents(
        'command.completed start',
        'step.exit start -> a',
        'step.skipped a (guard)',
        'step.exit a -> b',
        'step.enter b',
        'command.issued b',
      )
    expect(simulation.runs()).toEqual(['start', 'b'])
    expect(simulation.issued('b').context).toMatchObject({ args: { seen: false, written: null } })
  })

  it('case 53: follows all its arcs in inclusive mode', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: a}
  - {step: a, when: 'false', ${NOOP}, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: c}]}}
  - {step: b, ${NOOP}}
  - {step: c, ${NOOP}}`)
    expect(runThrough(graph, noop, started()).runs()).toEqual(['start', 'b', 'c'])
  })

  it('case 54: a chain of bypasses ends in a step that runs', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: a}
  - {step: a, when: '{{ off }}', ${NOOP}, next: b}
  - {step: b, when: '{{ off }}', ${NOOP}, next: end}
  - {step: end, ${NOOP}}`)
    const simulation = runThrough(graph, (name) => name, started())
    expect(simulation.runs()).toEqual(['start', 'end'])
    expect(simulation.lines().at(-1)).toBe('playbook.completed "end"')
  })

  it('case 55: may be the entry step', () => {
    const graph = aPlaybook(`
  - {step: start, when: '{{ false }}', ${NOOP}, next: b}
  - {step: b, ${NOOP}}`)
    given(graph)
      .when(started())
      .thenEvents(
        'playbook_started tests/test',
        'step.skipped start (guard)',
        'step.exit start -> b',
        'step.enter b',
        'command.issued b',
      )
  })

  it('tells its arcs so: the event is step.skipped and there is no output', () => {
    const graph = aPlaybook(`
  - step: start
    when: '{{ false }}'
    ${NOOP}
    next:
      arcs:
        - {step: a, when: "{{ output is defined or event.name == 'call.done' }}"}
        - {step: b, when: "{{ event.name == 'step.skipped' and event.step == 'start' }}"}
  - {step: a, ${NOOP}}
  - {step: b, ${NOOP}}`)
    expect(runThrough(graph, noop, started()).runs()).toEqual(['b'])
  })

  it('is evaluated once per run, with the variables of the arriving arc (enter rule 1)', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: {arcs: [{step: a, set: {ctx.go: true}}]}}
  - {step: a, when: '{{ ctx.go }}', ${NOOP}}`)
    expect(runThrough(graph, noop, started()).runs()).toEqual(['start', 'a'])
  })

  it('admit rules decide beside the guard: the first match counts, no match allows', () => {
    const admitted = (when: string, rules: string): boolean =>
      runThrough(
        aPlaybook(`
  - {step: start, ${NOOP}, next: a}
  - step: a
    when: '${when}'
    spec: {policy: {admit: {rules: ${rules}}}}
    ${NOOP}`),
        noop,
        started(),
      )
        .runs()
        .includes('a')
    const denyAll = '[{else: {then: {allow: false}}}]'
    const allowFirst = '[{when: "{{ true }}", then: {allow: true}}, {else: {then: {allow: false}}}]'
    const noMatch = '[{when: "{{ false }}", then: {allow: false}}]'
    expect(admitted('true', denyAll)).toBe(false)
    expect(admitted('true', allowFirst)).toBe(true)
    expect(admitted('true', noMatch)).toBe(true)
    expect(admitted('false', allowFirst)).toBe(false)
  })
})

describe('a join', () => {
  const diamond = aPlaybook(`
  - {step: start, ${NOOP}, next: {spec: {mode: inclusive}, arcs: [{step: a}, {step: b}]}}
  - {step: a, ${NOOP}, next: j}
  - {step: b, ${NOOP}, next: j}
  - {step: j, tool: {kind: noop, input: {a: '{{ a }}', b: '{{ b }}'}}}`)

  it('case 56: waits for every branch (ready rule 1)', () => {
    given(diamond, [started(), completed('start')])
      .when(completed('a', 'A'))
      .thenEvents('command.completed a', 'step.exit a -> j')
  })

  it('case 56: is entered exactly once after the last branch, and sees all results', () => {
    for (const [first, second] of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const) {
      const { simulation } = given(diamond, [started(), completed('start'), completed(first, first)])
        .when(completed(second, second))
        .thenEvents(
          `command.completed ${second}`,
          `step.exit ${second} -> j`,
          'step.enter j',
          'command.issued j',
        )
      expect(simulation.issued('j').context).toMatchObject({ args: { a: 'a', b: 'b' } })
    }
  })

  it('case 57: runs after the branch that was taken, however long the other one is', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: {arcs: [{step: a, when: '{{ left }}'}, {step: b}]}}
  - {step: a, ${NOOP}, next: c}
  - {step: b, ${NOOP}, next: d}
  - {step: c, ${NOOP}, next: j}
  - {step: d, ${NOOP}, next: j}
  - {step: j, ${NOOP}}`)
    expect(runThrough(graph, noop, started({ left: true })).runs()).toEqual(['start', 'a', 'c', 'j'])
    const right = runThrough(graph, noop, started({ left: false }))
    expect(right.runs()).toEqual(['start', 'b', 'd', 'j'])
    expect(right.lines().filter((line) => line.startsWith('step.skipped'))).toEqual([
      'step.skipped a (dead_path)',
      'step.skipped c (dead_path)',
    ])
  })

  it('case 58: an early exit that was not taken runs later, once', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: {arcs: [{step: work, when: '{{ true }}'}, {step: end}]}}
  - {step: work, ${NOOP}, next: end}
  - {step: end, ${NOOP}}`)
    const simulation = runThrough(graph, noop, started())
    expect(simulation.runs()).toEqual(['start', 'work', 'end'])
    expect(simulation.lines().some((line) => line.startsWith('step.skipped'))).toBe(false)
  })

  it('case 59: a handler that three steps may reach runs when the third takes it', () => {
    const guarded = (name: string, next: string) =>
      `  - {step: ${name}, ${NOOP}, next: {arcs: [{step: handler, when: '{{ bad == "${name}" }}'}, {step: ${next}}]}}`
    const graph = aPlaybook(`
${guarded('start', 'b')}
${guarded('b', 'c')}
${guarded('c', 'done')}
  - {step: done, ${NOOP}}
  - {step: handler, ${NOOP}}`)
    const simulation = runThrough(graph, noop, started({ bad: 'c' }))
    expect(simulation.runs()).toEqual(['start', 'b', 'c', 'handler'])
    expect(simulation.lines()).toContain('step.skipped done (dead_path)')
  })

  it('case 60: an orphan that points at it does not hold it up', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: b}
  - {step: orphan, ${NOOP}, next: b}
  - {step: b, ${NOOP}}`)
    expect(runThrough(graph, noop, started()).runs()).toEqual(['start', 'b'])
  })

  it('case 61: a branch that ends early does not end the execution', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}}
  - {step: b, ${NOOP}, next: c}
  - {step: c, ${NOOP}, next: d}
  - {step: d, ${NOOP}}`)
    const simulation = runThrough(graph, noop, started())
    expect(simulation.runs()).toEqual(['start', 'a', 'b', 'c', 'd'])
    expect(simulation.status()).toBe('COMPLETED')
  })

  it('does not wait for a branch that can no longer reach it', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}, next: j}
  - {step: b, ${NOOP}, next: {arcs: [{step: j, when: '{{ false }}'}, {step: c}]}}
  - {step: c, ${NOOP}}
  - {step: j, ${NOOP}}`)
    const simulation = createSimulation(graph)
    simulation.tell(started())
    simulation.tell(completed('start'))
    simulation.tell(completed('a'))
    expect(simulation.open()).toEqual(['b'])
    simulation.tell(completed('b'))
    expect(simulation.open()).toEqual(['c', 'j'])
  })

  it('waits for a branch that is bypassed on its way', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}, next: j}
  - {step: b, ${NOOP}, next: c}
  - {step: c, when: '{{ false }}', ${NOOP}, next: j}
  - {step: j, ${NOOP}}`)
    const simulation = createSimulation(graph)
    simulation.tell(started())
    simulation.tell(completed('start'))
    simulation.tell(completed('a'))
    expect(simulation.open()).toEqual(['b'])
    expect(simulation.tell(completed('b')).lines).toContain('step.enter j')
  })

  it('case 64 (inside one run): nested joins start innermost first', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: [a, b, c]}
  - {step: outer, ${NOOP}}
  - {step: inner, ${NOOP}, next: outer}
  - {step: a, ${NOOP}, next: inner}
  - {step: b, ${NOOP}, next: inner}
  - {step: c, ${NOOP}, next: outer}`)
    expect(runThrough(graph, noop, started()).runs()).toEqual(['start', 'a', 'b', 'c', 'inner', 'outer'])
  })
})

describe('skipped steps', () => {
  it('are reported once nothing can reach them any more, along the whole dead path', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: {arcs: [{step: a, when: '{{ false }}'}, {step: b}]}}
  - {step: a, ${NOOP}, next: a2}
  - {step: a2, ${NOOP}, next: a3}
  - {step: a3, ${NOOP}}
  - {step: b, ${NOOP}}`)
    given(graph, [started()])
      .when(completed('start'))
      .thenEvents(
        'command.completed start',
        'step.exit start -> b',
        'step.enter b',
        'command.issued b',
        'step.skipped a (dead_path)',
        'step.skipped a2 (dead_path)',
        'step.skipped a3 (dead_path)',
      )
  })

  it('are not reported while another branch may still take them', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: {spec: {mode: inclusive}, arcs: [{step: x, when: '{{ false }}'}, {step: b}]}}
  - {step: b, ${NOOP}, next: {arcs: [{step: x, when: '{{ takes_it }}'}]}}
  - {step: x, ${NOOP}}`)
    given(graph, [started({ takes_it: false })])
      .when(completed('start'))
      .thenEvents('command.completed start', 'step.exit start -> b', 'step.enter b', 'command.issued b')
    expect(runThrough(graph, noop, started({ takes_it: true })).runs()).toEqual(['start', 'b', 'x'])
    expect(runThrough(graph, noop, started({ takes_it: false })).lines()).toContain(
      'step.skipped x (dead_path)',
    )
  })
})
