/** Loops over collections: windows, results by index, failures, collections of every form. */
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../contract/json.ts'
import type { Graph } from './graph.ts'
import { completed, failed, report, started } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation, runThrough } from './testing/simulation.ts'
import { given } from './testing/specification.ts'

const NOOP = 'tool: {kind: noop}'
const noop = (): null => null

/** start, then a loop step L, then a step that reads its result. */
const looping = (loop: string, more = '', after = '{}'): Graph =>
  aPlaybook(`
  - {step: start, ${NOOP}, next: L}
  - step: L
    loop: ${loop}
    tool: {kind: noop, input: {doubled: '{{ item }}-{{ _index }}'}}
    ${more}
    next: after
  - {step: after, tool: {kind: noop, input: ${after}}}`)

const argsOf = (graph: Graph, tool: (name: string) => Json, payload: JsonObject = {}): Json =>
  (runThrough(graph, tool, started(payload)).issued('after').context as { args: Json }).args

describe('a sequential loop', () => {
  const graph = looping("{in: '{{ [1, 2, 3] }}', iterator: item}")

  it('case 67: issues one iteration at a time', () => {
    given(graph, [started()])
      .when(completed('start'))
      .thenEvents(
        'command.completed start',
        'step.exit start -> L',
        'step.enter L over [1,2,3]',
        'command.issued L#0',
      )
    given(graph, [started(), completed('start')])
      .when(completed('L#0'))
      .thenEvents('command.completed L', 'command.issued L#1')
    given(graph, [started(), completed('start'), completed('L#0'), completed('L#1')])
      .when(completed('L#2'))
      .thenEvents('command.completed L', 'step.exit L -> after', 'step.enter after', 'command.issued after')
  })

  it('case 67: gives each iteration its element, index and total', () => {
    const simulation = runThrough(graph, noop, started())
    const { meta, context } = simulation.issued('L#1')
    expect(meta).toMatchObject({
      iteration_index: 1,
      iteration_total: 3,
      iterator_step: 'L',
      item_var: 'item',
      command_id: expect.stringMatching(/^500:L:\d+:i1$/),
    })
    expect(context).toMatchObject({ args: { item: 2, _index: 1, _total: 3, doubled: '2-1' } })
  })

  it('case 67: names the iteration in every documented way', () => {
    const names = `{a: '{{ iter.item }}', b: '{{ iter._index }}', c: '{{ iter.index }}', d: '{{ loop_index }}', e: '{{ iter._total }}',
      f: '{{ iter._first }}', g: '{{ iter._last }}', h: '{{ loop.index }}', i: '{{ loop.last }}', j: '{{ ctx.item }}'}`
    const all = aPlaybook(`
  - {step: start, loop: {in: [x, y], iterator: item}, tool: {kind: noop, input: ${names}}}`)
    const simulation = runThrough(all, noop, started())
    expect(simulation.issued('start#1').context).toMatchObject({
      args: { a: 'y', b: 1, c: 1, d: 1, e: 2, f: false, g: true, h: 1, i: true, j: 'y' },
    })
  })

  it('lets declared input win over iteration variables of the same name', () => {
    const own = aPlaybook(`
  - {step: start, loop: {in: [x], iterator: item}, input: {_index: from step}, tool: {kind: noop, input: {item: own}}}`)
    expect(runThrough(own, noop, started()).issued('start#0').context).toMatchObject({
      args: { item: 'own', _index: 'from step', _total: 1 },
    })
  })
})

describe('the result of a loop', () => {
  it('case 68: has results in index order whatever the order of completion, and statistics', () => {
    const graph = looping(
      '{in: [a, b, c], iterator: item, spec: {mode: parallel}}',
      '',
      `{
      results: '{{ L.results }}', data: '{{ L.data[0] }}', total: '{{ L.stats.total }}', length: '{{ L | length }}',
      last: '{{ L[2] }}', whole: '{{ L }}', each: '{% for x in L %}{{ x }};{% endfor %}'}`,
    )
    const simulation = createSimulation(graph)
    simulation.tell(started())
    simulation.tell(completed('start'))
    for (const index of [2, 0, 1]) simulation.tell(completed(`L#${index}`, `r${index}`))
    expect(simulation.issued('after').context).toMatchObject({
      args: {
        results: ['r0', 'r1', 'r2'],
        data: 'r0',
        total: 3,
        length: 3,
        last: 'r2',
        whole: { results: ['r0', 'r1', 'r2'], stats: { total: 3, success: 3, failed: 0 } },
        each: 'r0;r1;r2;',
      },
    })
  })

  it('case 73: step set and arcs run once, after the last iteration', () => {
    const graph = aPlaybook(`
  - step: start
    loop: {in: [1, 2], iterator: item}
    ${NOOP}
    set: {ctx.sum: '{{ output.results | sum }}', ctx.count: '{{ output | length }}'}
    next: {arcs: [{step: b, when: "{{ event.name == 'loop.done' and event.name == 'step.done' }}"}]}
  - {step: b, ${NOOP}}`)
    const simulation = runThrough(graph, (_, { index }) => (index === null ? null : index + 10), started())
    expect(simulation.lines().filter((line) => line.startsWith('ctx.updated'))).toEqual([
      'ctx.updated start set {"sum":21,"count":2}',
    ])
    expect(simulation.runs()).toEqual(['start', 'b'])
  })
})

describe('a parallel loop', () => {
  it('case 69: never has more commands outstanding than max_in_flight, and refills (enter rule 3)', () => {
    for (const bound of ['2', "'{{ limit }}'", "'{{ limit | string }}'"]) {
      const graph = looping(
        `{in: [a, b, c, d, e], iterator: item, spec: {mode: parallel, max_in_flight: ${bound}}}`,
      )
      const simulation = createSimulation(graph)
      simulation.tell(started({ limit: 2 }))
      simulation.tell(completed('start'))
      const seen: string[] = []
      while (!simulation.open().includes('after')) {
        expect(simulation.open()).toHaveLength(seen.length < 4 ? 2 : 1)
        const name = simulation.open().at(-1) ?? ''
        seen.push(name)
        simulation.tell(completed(name))
      }
      expect(seen).toHaveLength(5)
    }
  })

  it('without a bound issues everything at once, up to the limit of the server', () => {
    const graph = looping("{in: '{{ 7 }}', iterator: item, spec: {mode: parallel}}")
    const open = (loopWindow?: number): number => {
      const simulation = createSimulation(graph, loopWindow === undefined ? {} : { limits: { loopWindow } })
      simulation.tell(started())
      simulation.tell(completed('start'))
      return simulation.open().length
    }
    expect(open()).toBe(7)
    expect(open(3)).toBe(3)
  })

  it('fails when max_in_flight is no integer of at least 1', () => {
    const graph = looping("{in: [a], iterator: item, spec: {mode: parallel, max_in_flight: '{{ limit }}'}}")
    for (const limit of [0, 1.5, 'many', null]) {
      const simulation = runThrough(graph, noop, started({ limit }))
      expect(simulation.state().error).toBe(
        `Orchestrator evaluate failed: Step 'L': max_in_flight must be an integer of at least 1, got ${JSON.stringify(limit)}`,
      )
    }
  })
})

describe('collections', () => {
  const items = (source: string, payload: JsonObject = {}): Json => {
    const simulation = runThrough(looping(`{in: ${source}, iterator: item}`), noop, started(payload))
    return simulation.events.find((event) => event.nodeName === 'L')?.result?.context?.['items'] ?? null
  }

  it.each([
    ['a number', "'{{ 11 }}'", ' "{{ 11 }}"'],
    ['a text', "'a,b,c,d,e,f,g,h,i,j,k'", ' "a,b,c,d,e,f,g,h,i,j,k"'],
    ['a mapping', "'{{ m }}'", ' "{{ m }}"'],
    ['a list', "'{{ m | list }}'", ' "{{ m | list }}"'],
    ['a literal list', '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]', ''],
  ])('larger than a loop may have are refused: %s', (_name, source, named) => {
    const m = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`k${index}`, index]))
    const graph = looping(`{in: ${source}, iterator: item}`)
    const run = (loopItems: number) => runThrough(graph, noop, started({ m }), { limits: { loopItems } })
    expect(run(11).status()).toBe('COMPLETED')
    expect(run(10).state().error).toBe(
      `Orchestrator evaluate failed: Step 'L': loop.in${named} gave 11 items; a loop may have 10. Go through them in pages, or with a cursor`,
    )
  })

  it('of more numbers than fit into memory are refused before they are made', () => {
    const { state } = runThrough(looping("{in: '{{ 10 ** 15 }}', iterator: item}"), noop, started())
    expect(state().error).toContain('gave 1000000000000000 items; a loop may have 1000000')
  })

  it('case 70: mappings, texts, numbers and JSON texts become lists', () => {
    expect(items("'{{ m }}'", { m: { b: 1, a: null } })).toEqual([
      { key: 'b', value: 1 },
      { key: 'a', value: null },
    ])
    expect(items('"{{ t }}"', { t: ' a, b\n\nc,' })).toEqual(['a', 'b', 'c'])
    expect(items("'{{ n }}'", { n: 4 })).toEqual([0, 1, 2, 3])
    expect(items("'{{ n }}'", { n: -4 })).toEqual([])
    expect(items("'{{ n }}'", { n: 1.5 })).toEqual([])
    expect(items("'{{ t }}'", { t: '[1, {"a": 2}]' })).toEqual([1, { a: 2 }])
    expect(items("'{{ t }}'", { t: '[1, 2' })).toEqual(['[1', '2'])
    expect(items("'{{ t }}'", { t: '[9007199254740993, 7]' })).toEqual(['9007199254740993', 7])
    expect(items("'a, b'")).toEqual(['a', 'b'])
  })

  it('case 70: null, booleans and undefined fail the execution, naming step and expression', () => {
    for (const [source, word] of [
      ['{{ nothing }}', 'nothing'],
      ['{{ true }}', 'boolean'],
    ]) {
      const simulation = runThrough(looping(`{in: '${source}', iterator: item}`), noop, started())
      expect(simulation.status()).toBe('FAILED')
      expect(simulation.state().error).toBe(
        `Orchestrator evaluate failed: Step 'L': loop.in "${source}" gave ${word}; it must be a list, a mapping, a text or a number`,
      )
    }
  })

  it('case 71: an empty one completes the step at once, with loop.done', () => {
    const graph = aPlaybook(`
  - step: start
    loop: {in: '{{ [] }}', iterator: item}
    ${NOOP}
    next: {arcs: [{step: b, when: "{{ event.name == 'loop.done' and output | length == 0 }}"}]}
  - {step: b, ${NOOP}}`)
    given(graph)
      .when(started())
      .thenEvents(
        'playbook_started tests/test',
        'step.enter start over []',
        'step.exit start -> b',
        'step.enter b',
        'command.issued b',
      )
  })

  it('case 72: a literal list may hold templates', () => {
    expect(items("[1, '{{ x }}', {y: '{{ x }}'}]", { x: 5 })).toEqual([1, 5, { y: 5 }])
  })

  it('are evaluated once, on entry (enter rule 2)', () => {
    const graph = aPlaybook(
      `
  - {step: start, loop: {in: '{{ ctx.items }}', iterator: item}, ${NOOP}, next: b}
  - {step: b, ${NOOP}}`,
      'workload: {items: [1, 2]}',
    )
    const simulation = createSimulation(graph)
    simulation.tell(started())
    simulation.tell(completed('start#0', { _context_updates: { items: [7, 8, 9] } }))
    expect(simulation.open()).toEqual(['start#1'])
    simulation.tell(completed('start#1'))
    expect(simulation.runs()).toEqual(['start', 'b'])
  })
})

describe('failed iterations', () => {
  const ofFive = (spec: string): Graph =>
    looping(
      `{in: '{{ 5 }}', iterator: item, spec: ${spec}}`,
      '',
      "{stats: '{{ L.stats }}', results: '{{ L.results }}'}",
    )

  it('case 74: a sequential loop issues nothing more, and the step fails', () => {
    given(ofFive('{mode: sequential}'), [started(), completed('start'), completed('L#0')])
      .when(failed('L#1', 'no'))
      .thenEvents(
        'command.failed L',
        'step.exit L failed: no',
        'step.skipped after (upstream_failed)',
        "playbook.failed Step 'L' failed: no",
      )
  })

  it('case 74: a parallel loop lets outstanding iterations finish first', () => {
    const past = [started(), completed('start'), failed('L#1', 'first'), failed('L#0', 'second')]
    const { simulation } = given(ofFive('{mode: parallel, max_in_flight: 3}'), past)
      .when(completed('L#2', 2))
      .thenEvents(
        'command.completed L',
        'step.exit L failed: first',
        'step.skipped after (upstream_failed)',
        "playbook.failed Step 'L' failed: first",
      )
    expect(simulation.state().steps.get('L')?.data).toEqual({
      results: [null, null, 2, null, null],
      stats: { total: 5, success: 1, failed: 2 },
    })
  })

  it('on_error continue goes on and counts them', () => {
    for (const word of ['continue', 'collect']) {
      const simulation = createSimulation(ofFive(`{mode: sequential, on_error: ${word}}`))
      simulation.tell(started())
      simulation.tell(completed('start'))
      for (const index of [0, 1, 2, 3, 4]) {
        simulation.tell(
          index % 2 === 0 ? completed(`L#${index}`, index) : failed(`L#${index}`, 'no', 'partial'),
        )
      }
      expect(simulation.issued('after').context).toMatchObject({
        args: { stats: { total: 5, success: 3, failed: 2 }, results: [0, 'partial', 2, 'partial', 4] },
      })
      simulation.tell(completed('after'))
      expect(simulation.status()).toBe('COMPLETED')
    }
  })

  it('an arc that reads the outcome may handle the failure of a loop', () => {
    const graph = aPlaybook(`
  - step: start
    loop: {in: [1, 2], iterator: item}
    ${NOOP}
    next: {arcs: [{step: h, when: "{{ event.name == 'call.error' and output.stats.failed == 1 }}"}]}
  - {step: h, ${NOOP}}`)
    const simulation = runThrough(graph, (name) => (name === 'start#0' ? new Error('x') : null), started())
    expect(simulation.runs()).toEqual(['start', 'h'])
    expect(simulation.status()).toBe('COMPLETED')
  })
})

describe('counting', () => {
  it('case 75: a loop entered again iterates again, over a fresh collection with fresh results', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, set: {ctx.n: 0}, next: L}
  - step: L
    loop: {in: '{{ range(ctx.n + 2) | list }}', iterator: item}
    ${NOOP}
    set: {ctx.n: '{{ ctx.n + 1 }}', ctx.last: '{{ output.results }}'}
    next: {arcs: [{step: L, when: '{{ ctx.n < 2 }}'}]}`)
    const simulation = runThrough(graph, (name, { run }) => `${name} in run ${run}`, started())
    expect(simulation.lines().filter((line) => line.startsWith('command.issued L'))).toHaveLength(5)
    expect(simulation.state().vars['last']).toEqual(['L#0 in run 2', 'L#1 in run 2', 'L#2 in run 2'])
  })

  it('case 76: a second completion of the same iteration counts for nothing', () => {
    const graph = looping('{in: [a, b, c], iterator: item, spec: {mode: parallel}}')
    const simulation = createSimulation(graph)
    simulation.tell(started())
    simulation.tell(completed('start'))
    const { commandId } = simulation.command('L#0')
    simulation.tell(completed('L#0', 'once'))
    const repeat = simulation.tell(() => report('command.completed', { step: 'L', commandId }))
    expect(repeat.reply).toMatchObject({ ok: true, duplicate: true })
    expect(repeat.events).toEqual([])
    expect(simulation.state().steps.get('L')?.loop).toMatchObject({ done: 1, outstanding: 2 })
  })

  it('passes data without loss: a step that gives data only to some iterations has null for the rest', () => {
    const graph = looping('{in: [a, b], iterator: item}', '', "{r: '{{ L.results }}'}")
    expect(argsOf(graph, (name) => (name === 'L#0' ? { x: 1 } : null))).toEqual({ r: [{ x: 1 }, null] })
  })

  it('case 78: an iteration may export variables, visible after the loop', () => {
    const graph = looping('{in: [a, b], iterator: item}', '', "{t: '{{ ctx.total }}'}")
    const simulation = createSimulation(graph)
    simulation.tell(started())
    simulation.tell(completed('start'))
    simulation.tell(completed('L#0', { _context_updates: { 'ctx.total': 1 } }))
    expect(simulation.tell(completed('L#1', { _context_updates: { 'ctx.total': 2 } })).lines[1]).toBe(
      'ctx.updated L export {"total":2}',
    )
    expect(simulation.issued('after').context).toMatchObject({ args: { t: 2 } })
  })
})
