/** Chains, routing modes, guards: one decision per step run, recorded as step.exit. */
import { describe, expect, it } from 'vitest'
import { completed, started } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation, runThrough } from './testing/simulation.ts'
import { given } from './testing/specification.ts'

const NOOP = 'tool: {kind: noop}'
const noop = (): null => null

/** start with the given `next`, then leaves. */
const fan = (next: string, leaves: readonly string[], more = '') =>
  aPlaybook(`
  - step: start
    ${NOOP}
    ${more}
    next: ${next}
${leaves.map((leaf) => `  - {step: ${leaf}, ${NOOP}}`).join('\n')}`)

describe('a chain', () => {
  const chain = fan('b', ['b'])

  it('case 1: a single step runs, and one terminal event ends the execution', () => {
    const simulation = runThrough(aPlaybook(`  - {step: start, ${NOOP}}`), () => ({ n: 1 }), started())
    expect(simulation.lines()).toEqual([
      'playbook_started tests/test',
      'step.enter start',
      'command.issued start',
      'command.completed start',
      'step.exit start',
      'playbook.completed {"n":1}',
    ])
    expect(simulation.status()).toBe('COMPLETED')
  })

  it('starts with the entry step and its command in the same turn', () => {
    given(chain)
      .when(started())
      .thenEvents('playbook_started tests/test', 'step.enter start', 'command.issued start')
  })

  it('goes on in the turn of the report', () => {
    given(chain, [started()])
      .when(completed('start'))
      .thenEvents('command.completed start', 'step.exit start -> b', 'step.enter b', 'command.issued b')
  })

  it('ends in the turn of the last report', () => {
    given(chain, [started(), completed('start')])
      .when(completed('b', 5))
      .thenEvents('command.completed b', 'step.exit b', 'playbook.completed 5')
  })

  it('begins at the step that the executor names as entry', () => {
    const graph = aPlaybook(
      `  - {step: other, ${NOOP}}\n  - {step: begin, ${NOOP}, next: other}`,
      'executor: {spec: {entry_step: begin}}',
    )
    expect(runThrough(graph, noop, started()).runs()).toEqual(['begin', 'other'])
  })

  it('case 37: every spelling of a single arc leads to the step', () => {
    for (const next of ['b', '[b]', '[{step: b}]', '{arcs: [{step: b}]}']) {
      expect(runThrough(fan(next, ['b']), noop, started()).runs()).toEqual(['start', 'b'])
    }
  })
})

describe('order and parents of events', () => {
  const graph = aPlaybook(`
  - step: start
    ${NOOP}
    set: {ctx.a: 1}
    next: {arcs: [{step: b, set: {ctx.b: 2}}]}
  - {step: b, ${NOOP}}`)

  it('writes report, variables, exit, enter, command in this order (route rule 1)', () => {
    given(graph, [started()])
      .when(completed('start'))
      .thenEvents(
        'command.completed start',
        'ctx.updated start set {"a":1}',
        'ctx.updated start arc:0 {"b":2}',
        'step.exit start -> b',
        'step.enter b',
        'command.issued b',
      )
  })

  it('names the report as parent of all that follows from it', () => {
    const { turn } = given(graph, [started()]).when(completed('start'))
    const [report, ...followers] = turn.events
    expect(report?.parentEventId).toBeNull()
    expect(new Set(followers.map((event) => event.parentEventId))).toEqual(new Set([report?.eventId]))
    expect(turn.events[1]?.result?.context).toMatchObject({
      step: 'start',
      gen: report?.eventId,
      source: 'set',
    })
  })

  it('names the start as parent of the first step', () => {
    const { turn } = given(graph).when(started())
    const [start, ...followers] = turn.events
    expect(followers.map((event) => event.parentEventId)).toEqual([start?.eventId, start?.eventId])
  })

  it('numbers events by position without gaps and gives each its own id', () => {
    const { events } = runThrough(graph, noop, started())
    expect(events.map((event) => event.position)).toEqual(events.map((_, index) => index + 1))
    expect(new Set(events.map((event) => event.eventId)).size).toBe(events.length)
  })
})

describe('routing modes', () => {
  const TWO_TRUE = "{arcs: [{step: b, when: '{{ true }}'}, {step: c, when: '{{ true }}'}]}"

  it('case 38: a list of names runs them all', () => {
    given(fan('[b, c]', ['b', 'c']), [started()])
      .when(completed('start'))
      .thenEvents(
        'command.completed start',
        'step.exit start -> b, c',
        'step.enter b',
        'command.issued b',
        'step.enter c',
        'command.issued c',
      )
  })

  it('case 39: an exclusive router takes the first true guard and skips the other target', () => {
    given(fan(TWO_TRUE, ['b', 'c']), [started()])
      .when(completed('start'))
      .thenEvents(
        'command.completed start',
        'step.exit start -> b',
        'step.enter b',
        'command.issued b',
        'step.skipped c (dead_path)',
      )
  })

  it('does not evaluate guards behind the one an exclusive router took', () => {
    const graph = fan("{arcs: [{step: b}, {step: c, when: '{{ 1 / 0 }}'}]}", ['b', 'c'])
    expect(runThrough(graph, noop, started()).status()).toBe('COMPLETED')
  })

  it('case 40: an inclusive router runs every target whose guard is true', () => {
    const next = `{spec: {mode: inclusive}, arcs: [{step: b}, {step: c, when: '{{ false }}'}, {step: d, when: 'true'}]}`
    const simulation = runThrough(fan(next, ['b', 'c', 'd']), noop, started())
    expect(simulation.runs()).toEqual(['start', 'b', 'd'])
    expect(simulation.lines()).toContain('step.skipped c (dead_path)')
  })

  it('case 41: a list of targets follows spec.next_mode', () => {
    const graph = fan(
      "[{step: b, when: '{{ true }}'}, {step: c}]",
      ['b', 'c'],
      'spec: {next_mode: inclusive}',
    )
    expect(runThrough(graph, noop, started()).runs()).toEqual(['start', 'b', 'c'])
  })

  it('case 42: a router without a mode follows spec.next_mode', () => {
    const graph = fan(TWO_TRUE, ['b', 'c'], 'spec: {next_mode: inclusive}')
    expect(runThrough(graph, noop, started()).runs()).toEqual(['start', 'b', 'c'])
  })

  it('case 44: when no guard is true the branch ends and the execution completes', () => {
    given(fan("{arcs: [{step: b, when: '{{ false }}'}]}", ['b']), [started()])
      .when(completed('start'))
      .thenEvents(
        'command.completed start',
        'step.exit start',
        'step.skipped b (dead_path)',
        'playbook.completed null',
      )
  })

  it('case 46: two arcs to the same target run it once, whichever of them is true', () => {
    for (const [first, second] of [
      ['true', 'false'],
      ['false', 'true'],
    ]) {
      const next = `{spec: {mode: inclusive}, arcs: [{step: b, when: '{{ ${first} }}'}, {step: b, when: '{{ ${second} }}'}]}`
      const simulation = runThrough(fan(next, ['b']), noop, started())
      expect(simulation.runs()).toEqual(['start', 'b'])
      expect(simulation.lines().some((line) => line.startsWith('step.skipped'))).toBe(false)
    }
  })

  it('starts ready steps in workflow order, not in arc order (advance rule 2)', () => {
    const simulation = createSimulation(fan('[c, b]', ['b', 'c']))
    simulation.tell(started())
    simulation.tell(completed('start'))
    expect(simulation.open()).toEqual(['b', 'c'])
  })
})

describe('what guards see', () => {
  const guarded = (when: string) => fan(`{arcs: [{step: yes, when: "${when}"}, {step: no}]}`, ['yes', 'no'])
  const taken = (
    when: string,
    data: number | { n: number; status?: string; data?: null } = { n: 1 },
  ): string =>
    runThrough(guarded(when), (name) => (name === 'start' ? data : null), started()).runs()[1] ?? 'none'

  it('case 43: the data of the step under each of its names', () => {
    for (const path of [
      'start.n',
      'start.data.n',
      'start.result.n',
      'output.n',
      'output.data.n',
      'result.n',
      'steps.start.context.result.context.data.n',
    ]) {
      expect(taken(`{{ ${path} == 1 }}`), path).toBe('yes')
    }
  })

  it('case 51: the event of a plain step is call.done, also called step.done and step.exit', () => {
    expect(taken("{{ event.name == 'call.done' }}")).toBe('yes')
    expect(taken("{{ event.name == 'step.done' }}")).toBe('yes')
    expect(taken("{{ event.name == 'step.exit' }}")).toBe('yes')
    expect(taken("{{ event.name == 'loop.done' }}")).toBe('no')
    expect(taken("{{ event.name == 'call.error' }}")).toBe('no')
    expect(taken("{{ event.step == 'start' and event.status == 'success' }}")).toBe('yes')
  })

  it('a verdict in output.status, which the data may state itself', () => {
    expect(taken("{{ output.status == 'success' and output.error is none }}")).toBe('yes')
    expect(taken("{{ output.status == 'late' }}", { n: 1, status: 'late' })).toBe('yes')
  })

  it('data that is not a mapping as itself', () => {
    expect(taken('{{ output.data == 4 and start == 4 }}', 4)).toBe('yes')
  })

  it("a 'data' key of its own, even when it is null", () => {
    expect(taken('{{ output.data is none and start.data is none }}', { n: 1, data: null })).toBe('yes')
  })

  it('the execution itself', () => {
    expect(taken("{{ execution_id == '500' and catalog_id == '7' and job.uuid == '500' }}")).toBe('yes')
    expect(taken("{{ path == 'tests/test' and version == 1 and parent_execution_id is none }}")).toBe('yes')
  })

  it('undefined names as false', () => {
    expect(taken('{{ nothing.of.that }}')).toBe('no')
  })
})

describe('steps without a tool', () => {
  it('route at once, in the same turn', () => {
    const graph = aPlaybook(`
  - {step: start, next: {arcs: [{step: a, when: '{{ flag }}'}, {step: b}]}}
  - {step: a, ${NOOP}}
  - {step: b, ${NOOP}}`)
    given(graph)
      .when(started({ flag: true }))
      .thenEvents(
        'playbook_started tests/test',
        'step.enter start',
        'step.exit start -> a',
        'step.enter a',
        'command.issued a',
        'step.skipped b (dead_path)',
      )
  })

  it('write their variables', () => {
    const graph = aPlaybook(`
  - {step: start, set: {ctx.x: 3}, next: b}
  - {step: b, tool: {kind: noop, input: {v: '{{ x }}'}}}`)
    const simulation = runThrough(graph, noop, started())
    expect(simulation.issued('b').context).toMatchObject({ args: { v: 3 } })
  })

  it('make an execution of their own that ends at its start', () => {
    given(aPlaybook('  - {step: start, next: end}\n  - {step: end}'))
      .when(started())
      .thenEvents(
        'playbook_started tests/test',
        'step.enter start',
        'step.exit start -> end',
        'step.enter end',
        'step.exit end',
        'playbook.completed null',
      )
  })
})
