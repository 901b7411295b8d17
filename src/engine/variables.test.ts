/** `set` of steps and arcs, exports of workers: one snapshot, written together, kept for the rest of the execution. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../contract/json.ts'
import type { Graph } from './graph.ts'
import {
  cancelled,
  completed,
  errorOf,
  failed,
  reported,
  reportedOf,
  started,
  variablesWritten,
} from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation, runThrough } from './testing/simulation.ts'
import { given } from './testing/specification.ts'

const NOOP = 'tool: {kind: noop}'
const noop = (): null => null

const argsAt = (graph: Graph, step: string, data: Json = null): Json =>
  (runThrough(graph, () => data, started()).issued(step).context as { args: Json }).args

describe('step set', () => {
  it('case 20: hides the workload key for bare and ctx access, never the workload itself', () => {
    const graph = aPlaybook(
      `
  - {step: start, ${NOOP}, set: {ctx.a: 5}, next: b}
  - {step: b, tool: {kind: noop, input: {bare: '{{ a }}', ctx: '{{ ctx.a }}', workload: '{{ workload.a }}'}}}`,
      'workload: {a: 1}',
    )
    expect(argsAt(graph, 'b')).toEqual({ bare: 5, ctx: 5, workload: 1 })
  })

  it('case 48: renders all values against one snapshot', () => {
    const graph = aPlaybook(
      `  - {step: start, ${NOOP}, set: {a: '{{ a | int + 1 }}', b: '{{ a }}'}}`,
      'workload: {a: 1}',
    )
    given(graph, [started()])
      .when(completed('start'))
      .thenEvents(
        'command.completed start',
        'ctx.updated start set {"a":2,"b":1}',
        'step.exit start',
        'playbook.completed null',
      )
  })

  it('case 49: is seen by the guards of its step; the set of an arc is not seen by its siblings', () => {
    const graph = aPlaybook(`
  - step: start
    ${NOOP}
    set: {ctx.x: 1}
    next:
      spec: {mode: inclusive}
      arcs:
        - {step: a, when: '{{ ctx.x == 1 }}', set: {ctx.x: 2}}
        - {step: b, when: '{{ ctx.x == 2 }}'}
        - {step: c, when: '{{ ctx.x == 1 }}', set: {ctx.seen: '{{ ctx.x }}'}}
  - {step: a, ${NOOP}}
  - {step: b, ${NOOP}}
  - {step: c, ${NOOP}}`)
    const simulation = runThrough(graph, noop, started())
    expect(simulation.runs()).toEqual(['start', 'a', 'c'])
    // Sets of fired arcs are applied in arc order, so a later one sees the earlier ones.
    expect(simulation.state().vars).toEqual({ x: 2, seen: 2 })
  })

  it('reads the output of its step and writes values with their types', () => {
    const graph = aPlaybook(`
  - step: start
    ${NOOP}
    set: {ctx.rows: '{{ output.rows }}', ctx.first: '{{ result.rows[0] }}', step.text: 'n={{ output.data.n }}', bare: [1, '{{ output.n }}']}`)
    const simulation = runThrough(graph, () => ({ n: 2, rows: [{ id: 1 }] }), started())
    expect(simulation.state().vars).toEqual({
      rows: [{ id: 1 }],
      first: { id: 1 },
      text: 'n=2',
      bare: [1, 2],
    })
  })

  it('writes nested paths into what is there', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, set: {ctx.a.b: 1, ctx.a.c.d: 2, ctx.text: t}, next: b}
  - {step: b, ${NOOP}, set: {ctx.a.c.e: 3, ctx.text.deep: 4}}`)
    expect(runThrough(graph, noop, started()).state().vars).toEqual({
      a: { b: 1, c: { d: 2, e: 3 } },
      text: { deep: 4 },
    })
  })

  it('does not confuse names with members that every object has', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, set: {ctx.constructor.x: 1, ctx.__proto__: 2, ctx.toString: 3}, next: b}
  - {step: b, tool: {kind: noop, input: {p: '{{ ctx.__proto__ }}', v: '{{ ctx.valueOf }}', w: '{{ valueOf }}'}}}`)
    const simulation = runThrough(graph, noop, started())
    expect(Object.entries(simulation.state().vars)).toEqual([
      ['constructor', { x: 1 }],
      ['__proto__', 2],
      ['toString', 3],
    ])
    expect(simulation.issued('b').context).toMatchObject({ args: { v: null, w: null } })
  })

  it('hides the result of a step of the same name', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, set: {ctx.start: hidden}, next: b}
  - {step: b, tool: {kind: noop, input: {v: '{{ start }}'}}}`)
    expect(argsAt(graph, 'b', { n: 1 })).toEqual({ v: 'hidden' })
  })

  it('does not run for a step that failed', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, set: {ctx.x: 1}, next: {arcs: [{step: h, when: '{{ output.error }}', set: {ctx.why: '{{ error.message }}'}}]}}
  - {step: h, ${NOOP}}`)
    given(graph, [started()])
      .when(failed('start', 'no'))
      .thenEvents(
        'command.failed start',
        'ctx.updated start arc:0 {"why":"no"}',
        'step.exit start handled -> h',
        'step.enter h',
        'command.issued h',
      )
  })

  it('a template that fails in it ends the execution, naming step and variable', () => {
    const graph = aPlaybook(`  - {step: start, ${NOOP}, set: {ctx.fine: 1, ctx.a.b: '{{ 1 / 0 }}'}}`)
    const simulation = runThrough(graph, noop, started())
    expect(simulation.status()).toBe('FAILED')
    expect(simulation.state().error).toMatch(/^Orchestrator evaluate failed: Step 'start': set a\.b: .*zero/)
    expect(simulation.state().vars).toEqual({})
  })
})

describe('arc set', () => {
  it('case 47: stays for the next step and all after it', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: {arcs: [{step: b, set: {ctx.k: '{{ start.n }}', bare: 2}}]}}
  - {step: b, tool: {kind: noop, input: {k: '{{ ctx.k }}'}}, next: c}
  - {step: c, tool: {kind: noop, input: {k: '{{ ctx.k }}', bare: '{{ bare }}'}}}`)
    expect(argsAt(graph, 'b', { n: 9 })).toEqual({ k: 9 })
    expect(argsAt(graph, 'c', { n: 9 })).toEqual({ k: 9, bare: 2 })
  })

  it('case 50: args of a target are rendered and stay as well', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: [{step: b, args: {k: '{{ start.n }}'}}]}
  - {step: b, tool: {kind: noop, input: {k: '{{ k }}'}}}`)
    expect(argsAt(graph, 'b', { n: 9 })).toEqual({ k: 9 })
  })

  it('is applied for every fired arc before any target starts; the later one wins', () => {
    const graph = aPlaybook(`
  - step: start
    ${NOOP}
    next: {spec: {mode: inclusive}, arcs: [{step: a, set: {ctx.k: 1}}, {step: b, set: {ctx.k: 2}}]}
  - {step: a, tool: {kind: noop, input: {k: '{{ ctx.k }}'}}}
  - {step: b, tool: {kind: noop, input: {k: '{{ ctx.k }}'}}}`)
    expect(argsAt(graph, 'a')).toEqual({ k: 2 })
    expect(argsAt(graph, 'b')).toEqual({ k: 2 })
  })
})

describe('exports of a worker', () => {
  const graph = aPlaybook(`
  - {step: start, ${NOOP}, set: {ctx.sum: '{{ ctx.total + 1 }}'}, next: b}
  - {step: b, ${NOOP}}`)

  it('are written before the set of the step', () => {
    given(graph, [started()])
      .when(
        completed('start', {
          _context_updates: { 'ctx.total': 4, 'ctx.deep.x': 1, bare: 2, 'iter.i': 3, 'step.s': 3 },
        }),
      )
      .thenEvents(
        'command.completed start',
        'ctx.updated start export {"total":4,"deep":{"x":1},"bare":2}',
        'ctx.updated start set {"sum":5}',
        'step.exit start -> b',
        'step.enter b',
        'command.issued b',
      )
  })

  it('write nothing when there is nothing for the execution among them', () => {
    for (const updates of [{}, { 'iter.x': 1 }, 'text']) {
      const { turn } = given(aPlaybook(`  - {step: start, ${NOOP}}`), [started()]).when(
        completed('start', { _context_updates: updates }),
      )
      expect(turn.lines).not.toContainEqual(expect.stringContaining('ctx.updated'))
    }
  })

  it('may arrive with call.done, ahead of the completion', () => {
    const simulation = createSimulation(graph)
    simulation.tell(started())
    const { commandId } = simulation.command('start')
    const context = { result: { status: 'success', context: { data: { _context_updates: { total: 1 } } } } }
    simulation.tell(reported('call.done', { step: 'start', commandId, context }))
    const turn = simulation.tell(
      reported('command.completed', { step: 'start', commandId, context: { status: 'success' } }),
    )
    expect(turn.lines).toContain('ctx.updated start export {"total":1}')
  })

  it('beside the data leave the data as it is, and win over those inside it', () => {
    const context = {
      data: { n: 1, _context_updates: { a: 'inside' } },
      context_updates: { a: 'beside', 'ctx.b.c': 2 },
    }
    const { simulation } = given(aPlaybook(`  - {step: start, ${NOOP}}`), [started()])
      .when(reportedOf('start', 'command.completed', { context: { result: { status: 'success', context } } }))
      .thenEvents(
        'command.completed start',
        'ctx.updated start export {"a":"beside","b":{"c":2}}',
        'step.exit start',
        'playbook.completed {"n":1,"_context_updates":{"a":"inside"}}',
      )
    expect(simulation.state().steps.get('start')?.data).toEqual(context.data)
  })

  it('of a failed command are written as well', () => {
    const context = { error: { ...errorOf('no') }, context_updates: { tried: 3 } }
    const { simulation } = given(aPlaybook(`  - {step: start, ${NOOP}}`), [started()]).when(
      reportedOf('start', 'command.failed', { context: { result: { status: 'error', context } } }),
    )
    expect(simulation.state()).toMatchObject({ status: 'FAILED', vars: { tried: 3 } })
  })
})

describe('a nested write starts from what the name means, in whatever layer', () => {
  const set = (path: string, head = ''): Json => {
    const graph = aPlaybook(
      `
  - {step: start, ${NOOP}, next: b}
  - {step: b, ${NOOP}, set: {${path}: new}}`,
      head,
    )
    return { ...runThrough(graph, () => ({ n: 1, deep: { x: 1 } }), started()).state().vars }
  }

  it('the workload', () => {
    expect(set('ctx.config.b', 'workload: {config: {a: 1, b: 2}}')).toEqual({ config: { a: 1, b: 'new' } })
  })

  it('the result of a step', () => {
    expect(set('ctx.start.deep.y')).toEqual({ start: { n: 1, deep: { x: 1, y: 'new' } } })
  })

  it('nothing, or something that has no members', () => {
    expect(set('ctx.fresh.a.b')).toEqual({ fresh: { a: { b: 'new' } } })
    expect(set('ctx.count.a', 'workload: {count: 5}')).toEqual({ count: { a: 'new' } })
  })

  it('an earlier write of the same set', () => {
    const graph = aPlaybook(`  - {step: start, ${NOOP}, set: {ctx.c.a: 1, ctx.c.b: 2, ctx.c.a.x: 3}}`)
    expect(runThrough(graph, noop, started()).state().vars).toEqual({ c: { a: { x: 3 }, b: 2 } })
  })

  it('and leaves the workload itself alone', () => {
    const graph = aPlaybook(
      `  - {step: start, ${NOOP}, set: {ctx.config.b: 9}}`,
      'workload: {config: {a: 1}}',
    )
    expect(runThrough(graph, noop, started()).state().workload).toEqual({ config: { a: 1 } })
  })
})

describe('variables written from outside', () => {
  const graph = aPlaybook(
    `
  - {step: start, ${NOOP}, next: b}
  - {step: b, tool: {kind: noop, input: {v: '{{ v }}', bare: '{{ ctx.w.deep }}'}}}`,
    'workload: {v: 1}',
  )

  it('are recorded with their source and seen by the next step', () => {
    const { simulation } = given(graph, [started()])
      .when(variablesWritten({ v: 2, w: { deep: null } }, 'variables api'))
      .thenEvents('ctx.updated variables api {"v":2,"w":{"deep":null}}')
    simulation.tell(completed('start'))
    expect(simulation.issued('b').context).toMatchObject({ args: { v: 2, bare: null } })
  })

  it('take names with dots for names', () => {
    const { simulation } = given(graph, [started()]).when(variablesWritten({ 'a.b': 1, __proto__x: 2 }))
    expect(simulation.state().vars).toEqual({ 'a.b': 1, __proto__x: 2 })
  })

  it('start and end nothing', () => {
    const { turn, simulation } = given(graph, [started()]).when(variablesWritten({ v: 2 }))
    expect(turn).toMatchObject({ changes: [], timers: [] })
    expect(simulation.open()).toEqual(['start'])
  })

  it('are refused when the execution is over', () => {
    given(graph, [started(), cancelled()])
      .when(variablesWritten({ v: 2 }))
      .thenRefused('conflict', 'Execution 500 is already CANCELLED')
  })
})
