/**
 * Results that are stored apart: what templates see of them is what they would see of the data itself, and data is
 * asked for only when the marker cannot answer.
 */
import { describe, expect, it } from 'vitest'
import { childData } from '../contract/child-data.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { markerOf } from '../contract/summary.ts'
import { referenceOf } from './reference.ts'
import { childEnded, completed, parked, started } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation, isFoldOf } from './testing/simulation.ts'
import type { Simulation } from './testing/simulation.ts'

const REF = 'noetl://execution/500/result/start/77'
const NOOP = 'tool: {kind: noop}'

const marked = (data: Json, ref = REF, selected: readonly string[] = []): JsonObject => {
  const text = JSON.stringify(data)
  return markerOf(data, { ref, bytes: text.length, text, selected })
}

const LONG = 'x'.repeat(600)
const DATA: JsonObject = {
  count: 1200,
  title: 'rows',
  none: null,
  long: LONG,
  rows: Array.from({ length: 1200 }, (_, id) => ({ id })),
  deep: { a: { b: [1, 2, 3] } },
}

/** `start` ends with data that is stored apart; `b` is built from templates that read it. */
const read = (
  data: Json,
  templates: JsonObject,
  results: Readonly<Record<string, Json>> = { [REF]: data },
): Simulation => {
  const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: b}
  - {step: b, tool: {kind: noop, input: ${JSON.stringify(templates)}}}`)
  const simulation = createSimulation(graph, { results })
  simulation.tell(started())
  simulation.tell(completed('start', marked(data)))
  return simulation
}

const rendered = (data: Json, template: string): { value: Json; asked: boolean } => {
  const simulation = read(data, { it: template })
  const { args } = simulation.issued('b').context as { args: JsonObject }
  return { value: args['it'] ?? null, asked: simulation.fetched().length > 0 }
}

const inline = (data: Json, template: string): Json => {
  const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: b}
  - {step: b, tool: {kind: noop, input: ${JSON.stringify({ it: template })}}}`)
  const simulation = createSimulation(graph)
  simulation.tell(started())
  simulation.tell(completed('start', data))
  return (simulation.issued('b').context as { args: JsonObject }).args['it'] ?? null
}

describe('a marker', () => {
  it('is known by its reference and its store', () => {
    expect(referenceOf(marked(DATA))).toBe(REF)
  })

  it.each<Json>([
    null,
    'text',
    [REF],
    {},
    { _ref: REF },
    { _ref: 5, _store: 'kv' },
    { _ref: REF, _store: 1 },
    { _ref: 'https://elsewhere/', _store: 'kv' },
    { _ref: 'noetl://execution/x/result/a/1', _store: 'kv' },
  ])('is not %j', (data) => {
    expect(referenceOf(data)).toBeNull()
  })

  it.each([
    ['{{ start.count }}', 1200],
    ['{{ start.title | upper }}', 'ROWS'],
    ['{{ start.none }}', null],
    ['{{ start._ref is defined }}', true],
    ['{{ start._ref }}', REF],
    ['{{ start._store }}', 'kv'],
    ['{{ start._size_bytes > 10000 }}', true],
  ] as const)('answers %s without the data', (template, value) => {
    expect(rendered(DATA, template)).toEqual({ value, asked: false })
  })
})

describe('the data is asked for, and gives the same as if it were in the log, by', () => {
  it.each([
    '{{ start.rows | length }}',
    '{{ start.rows[1100].id }}',
    '{{ start.rows[0] }}',
    '{{ start.rows | map(attribute="id") | sum }}',
    '{{ start.long }}',
    '{{ start.deep.a.b }}',
    '{{ start.absent | default("none") }}',
    '{{ start.absent is defined }}',
    '{{ start }}',
    '{{ start | tojson | length }}',
    '{{ start.data.count }}',
    '{{ "nothing" in start }}',
    '{{ steps.start.context.result.context.data.rows | length }}',
    '{{ steps.start.status }}',
    '{{ start | length }}',
    '{{ start is mapping }}',
    '{{ start["rows"][-1].id }}',
    '{% for row in start.rows[:3] %}{{ row.id }};{% endfor %}',
    '{% for key in start %}{{ key }};{% endfor %}',
    '{{ ctx.start.rows | length }}',
    '{{ (start.rows | first).id }}',
    '{{ start.rows == [] }}',
  ])('%s', (template) => {
    const { value, asked } = rendered(DATA, template)
    expect(asked).toBe(true)
    expect(value).toEqual(inline(DATA, template))
  })

  it.each([
    '{{ start | length }}',
    '{{ start[1100] }}',
    '{{ start[-1] }}',
    '{{ start | first }}',
    '{{ start[:2] }}',
    '{{ start }}',
    '{{ 5 in start }}',
    '{% for n in start[:3] %}{{ n }};{% endfor %}',
  ])('a list: %s', (template) => {
    const list = Array.from({ length: 1200 }, (_, index) => index)
    expect(rendered(list, template)).toEqual({ value: inline(list, template), asked: true })
  })

  it.each([
    '{{ start | length }}',
    '{{ start[0] }}',
    '{{ start ~ "!" }}',
    '{{ "ab" in start }}',
    '{{ start }}',
    '{{ start | upper }}',
  ])('a text: %s', (template) => {
    const text = 'abc'.repeat(400)
    expect(rendered(text, template)).toEqual({ value: inline(text, template), asked: true })
  })

  it('a mapping with a field that looks like the mark of a list', () => {
    const data = { ...DATA, _type: 'list', _count: 3 }
    expect(rendered(data, '{{ start | length }}').value).toBe(inline(data, '{{ start | length }}'))
    expect(rendered(data, '{{ start._type }}').value).toBe('list')
  })
})

describe('every decision sees the data', () => {
  const pages = { more: true, ...DATA }

  it('guards, set, arcs and loops alike (case 109)', () => {
    const graph = aPlaybook(`
  - step: start
    ${NOOP}
    set: {ctx.n: '{{ output.rows | length }}', ctx.last: '{{ output.rows[-1].id }}'}
    next: {arcs: [{step: none, when: '{{ start.rows | length < 2 }}'}, {step: each, when: '{{ output.rows | length == 1200 }}'}]}
  - {step: none, ${NOOP}}
  - {step: each, when: '{{ result is not defined and start.rows[1100].id == 1100 }}', loop: {in: '{{ start.rows[:2] }}', iterator: row}, ${NOOP}, next: end}
  - {step: end, tool: {kind: python, code: 'n = {{ start.rows | length }}'}}`)
    const simulation = createSimulation(graph, { results: { [REF]: pages } })
    simulation.tell(started())
    simulation.tell(completed('start', marked(pages)))
    simulation.runAll(() => null)
    expect(simulation.state().vars).toEqual({ n: 1200, last: 1199 })
    expect(simulation.runs()).toEqual(['start', 'each', 'end'])
    expect(simulation.issued('end').context).toMatchObject({ tool_config: { code: 'n = 1200' } })
    expect(simulation.fetched()).toEqual([REF])
    expect(isFoldOf(simulation.state(), simulation.events)).toBe(true)
  })

  it('a nested write into what is stored apart keeps its other members', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, set: {ctx.start.extra: 1}}`)
    const simulation = createSimulation(graph, { results: { [REF]: { a: 1, b: LONG } } })
    simulation.tell(started())
    simulation.tell(completed('start', marked({ a: 1, b: LONG })))
    expect(simulation.state().vars['start']).toEqual({ a: 1, b: LONG, extra: 1 })
  })

  it('a pipeline shows its tasks and their fields', () => {
    const graph = aPlaybook(`
  - {step: start, tool: [{one: {kind: noop}}, {two: {kind: noop}}], next: b}
  - {step: b, tool: {kind: noop, input: {label: '{{ start.two.n }}', flat: '{{ start.rows | length }}', whole: '{{ start }}'}}}`)
    const data = { one: { rows: [1, 2, 3], n: 1 }, two: { n: 2 } }
    const simulation = createSimulation(graph, { results: { [REF]: data } })
    simulation.tell(started())
    simulation.tell(completed('start', marked(data)))
    expect(simulation.issued('b').context).toMatchObject({
      args: { label: 2, flat: 3, whole: { rows: [1, 2, 3], n: 2, ...data } },
    })
  })

  it('a command that is rendered later gets the data itself', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: b}
  - {step: b, tool: [{t: {kind: noop, input: {x: '{{ start.rows | length }}'}}}]}`)
    const simulation = createSimulation(graph, { results: { [REF]: DATA } })
    simulation.tell(started())
    simulation.tell(completed('start', marked(DATA)))
    expect(simulation.issued('b')).toMatchObject({
      context: { render_context: { start: { count: 1200, rows: DATA['rows'] } } },
      meta: { step_results: { start: 'data' } },
    })
  })

  it('several results are asked for one after the other', () => {
    const other = 'noetl://execution/500/result/b/78'
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: b}
  - {step: b, ${NOOP}, next: c}
  - {step: c, tool: {kind: noop, input: {sum: '{{ (start.rows | length) + (b.rows | length) }}'}}}`)
    const simulation = createSimulation(graph, { results: { [REF]: DATA, [other]: { rows: [1] } } })
    simulation.tell(started())
    simulation.tell(completed('start', marked(DATA)))
    simulation.tell(completed('b', marked({ rows: [1] }, other)))
    expect(simulation.fetched()).toEqual([REF, other])
    expect(simulation.issued('c').context).toMatchObject({ args: { sum: 1201 } })
  })
})

describe('a reference whose data is gone', () => {
  it('ends the execution, which says what is missing', () => {
    const simulation = read(DATA, { n: '{{ start.rows | length }}' }, {})
    expect(simulation.status()).toBe('FAILED')
    expect(simulation.state().error).toBe(
      `Orchestrator evaluate failed: Step 'b': missing_reference: the result ${REF} does not exist any more`,
    )
  })

  it('is no reason to leave program text as it is', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: b}
  - {step: b, tool: {kind: python, code: 'n = {{ start.rows | length }}'}}`)
    const simulation = createSimulation(graph, { results: {} })
    simulation.tell(started())
    simulation.tell(completed('start', marked(DATA)))
    expect(simulation.state().error).toContain('missing_reference')
  })

  it('ends the execution also when a nested export would be written into it', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: b}
  - {step: b, ${NOOP}}`)
    const simulation = createSimulation(graph, { results: {} })
    simulation.tell(started())
    simulation.tell(completed('start', marked(DATA)))
    simulation.tell(completed('b', { _context_updates: { 'ctx.start.x': 1 } }))
    expect(simulation.status()).toBe('FAILED')
    expect(simulation.state().error).toContain("Step 'b': missing_reference")
  })

  it('harms nobody who does not read it', () => {
    const simulation = read(DATA, { n: '{{ start.count }}' }, {})
    expect(simulation.status()).toBe('RUNNING')
  })
})

describe('handed on', () => {
  it('the final result of an execution stays a reference', () => {
    const simulation = createSimulation(aPlaybook(`  - {step: start, ${NOOP}}`))
    simulation.tell(started())
    simulation.tell(completed('start', marked(DATA)))
    expect(simulation.events.at(-1)?.result?.context?.['data']).toEqual(marked(DATA))
    expect(simulation.fetched()).toEqual([])
  })

  it('the result of a child may be one for its parent', () => {
    const graph = aPlaybook(`
  - {step: start, tool: {kind: playbook, path: tests/child, return_result: true}, next: b}
  - step: b
    tool: {kind: noop, input: {n: '{{ start.rows | length }}', who: '{{ start._execution_id }}', how: '{{ start.status }}', data: '{{ start.data.rows[2].id }}', count: '{{ start.count }}'}}`)
    const whole = childData({ data: DATA, executionId: '900', status: 'COMPLETED', path: 'tests/child' })
    const simulation = createSimulation(graph, { results: { [REF]: whole } })
    for (const happening of [started(), parked('start'), childEnded('start', { data: marked(whole) })])
      simulation.tell(happening)
    expect(simulation.issued('b').context).toMatchObject({
      args: { n: 1200, who: '900', how: 'COMPLETED', data: 2, count: 1200 },
    })
  })

  it('selected fields are read without the data, unless they are long', () => {
    const data = { ...DATA, user: { name: 'Ada', bio: LONG.repeat(9) }, count: 1 }
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: b}
  - {step: b, tool: {kind: noop, input: {name: '{{ start.name }}'}}, next: c}
  - {step: c, tool: {kind: noop, input: {bio: '{{ start.user.bio | length }}'}}}`)
    const simulation = createSimulation(graph, { results: { [REF]: data } })
    simulation.tell(started())
    simulation.tell(completed('start', marked(data, REF, ['user.name', 'user.bio'])))
    expect(simulation.issued('b').context).toMatchObject({ args: { name: 'Ada' } })
    expect(simulation.fetched()).toEqual([])
    simulation.tell(completed('b'))
    expect(simulation.issued('c').context).toMatchObject({ args: { bio: 5400 } })
  })
})
