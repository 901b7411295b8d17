/** Loops over what a claim hands out: frames of rows until there are none. */
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../contract/json.ts'
import type { Graph } from './graph.ts'
import { claimed, completed, expired, failed, parked, called, started } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation, runThrough } from './testing/simulation.ts'
import type { Simulation } from './testing/simulation.ts'
import { given } from './testing/specification.ts'

const NOOP = 'tool: {kind: noop}'

/** A cursor loop on the entry step, then a step that reads its result. */
const cursor = (frame: string, more = '', spec = ''): Graph =>
  aPlaybook(
    `
  - step: start
    loop:
      cursor: {kind: postgres, auth: '{{ who }}', claim: 'take {{ __frame_max_rows }} of {{ table }}'}
      iterator: job
      spec: {mode: cursor, frame: ${frame}${spec}}
    tool: {kind: noop, input: {id: '{{ job.id }}', at: '{{ _index }}/{{ _total }}'}}
    ${more}
    next: {arcs: [{step: after, when: "{{ event.name == 'loop.done' or output.status == 'error' }}"}]}
  - {step: after, tool: {kind: noop, input: {seen: '{{ start }}'}}}`,
    'workload: {table: q, who: pg_main}',
  )

const rows = (...ids: readonly number[]): Json => ({ rows: ids.map((id) => ({ id })), row_count: ids.length })

/** Answers claims with these frames in turn, then with no rows; rows by what `work` says. */
const drain = (
  graph: Graph,
  frames: readonly Json[],
  work: (id: Json) => Json | Error = () => null,
): Simulation => {
  const left = [...frames]
  const simulation = createSimulation(graph)
  simulation.tell(started())
  simulation.runAll((name, { isClaim }) => {
    if (isClaim) return left.shift() ?? { rows: [] }
    if (name === 'after') return null
    return work((simulation.issued(name).context as { args: JsonObject }).args['id'] ?? null)
  })
  return simulation
}

const issued = (simulation: Simulation): readonly string[] =>
  simulation.lines().filter((line) => line.startsWith('command.issued'))

describe('a cursor loop', () => {
  const graph = cursor('{max_rows: 2, row_concurrency: 2}')

  it('asks for rows before anything else (loop rule 2)', () => {
    const { simulation } = given(graph)
      .when(started())
      .thenEvents('playbook_started tests/test', 'step.enter start', 'command.issued start')
    const { context, meta, nodeType } = simulation.issued('start')
    expect(nodeType).toBe('postgres')
    expect(context).toEqual({
      tool_config: { kind: 'postgres', command: 'take 2 of q', auth: 'pg_main' },
      args: {},
      render_context: {},
    })
    expect(meta).toMatchObject({ tool_kind: 'postgres', cursor: { phase: 'claim', step: 'start', frame: 0 } })
  })

  it('works on the rows of a frame, no more than its window at once (loop rule 1)', () => {
    const { simulation } = given(cursor('{max_rows: 3, row_concurrency: 2}'), [started()])
      .when(completed('start', rows(7, 8, 9)))
      .thenEvents('command.completed start', 'command.issued start#0', 'command.issued start#1')
    expect(simulation.issued('start#1')).toMatchObject({
      nodeType: 'noop',
      context: { args: { id: 8, at: '1/3', job: { id: 8 }, _index: 1, _total: 3 } },
      meta: {
        iteration_index: 1,
        iteration_total: 3,
        item_var: 'job',
        cursor: { phase: 'body', step: 'start', frame: 0, row: 1 },
      },
    })
    given(cursor('{max_rows: 3, row_concurrency: 2}'), [started(), completed('start', rows(7, 8, 9))])
      .when(completed('start#1'))
      .thenEvents('command.completed start', 'command.issued start#2')
  })

  it('asks again after the last row of a frame, whatever the order they end in', () => {
    const past = [started(), completed('start', rows(1, 2)), completed('start#1')]
    const { simulation } = given(graph, past)
      .when(completed('start#0'))
      .thenEvents('command.completed start', 'command.issued start')
    expect(simulation.issued('start').meta['cursor']).toMatchObject({ phase: 'claim', frame: 1 })
  })

  it('case 77: ends when a claim brings no rows, with the number of frames and rows', () => {
    const simulation = drain(graph, [rows(1, 2), rows(3, 4), rows(5)])
    expect(issued(simulation)).toEqual([
      'command.issued start',
      'command.issued start#0',
      'command.issued start#1',
      'command.issued start',
      'command.issued start#0',
      'command.issued start#1',
      'command.issued start',
      'command.issued start#0',
      'command.issued start',
      'command.issued after',
    ])
    expect(simulation.issued('after').context).toMatchObject({
      args: {
        seen: { cursor: 'drained', frames: 3, rows: 5, stats: { total: 5, success: 5, failed: 0 } },
      },
    })
    expect(simulation.status()).toBe('COMPLETED')
  })

  it('case 77: takes rows that its own body added', () => {
    const simulation = drain(graph, [rows(1), rows(2), rows(3)])
    expect(simulation.state().steps.get('start')?.data).toMatchObject({ frames: 3, rows: 3 })
  })

  it('over an empty queue is done at once', () => {
    given(graph, [started()])
      .when(completed('start', { rows: [] }))
      .thenEvents(
        'command.completed start',
        'step.exit start -> after',
        'step.enter after',
        'command.issued after',
      )
  })

  it.each<[string, Json]>([
    ['a bare list', [{ id: 1 }]],
    ['a list below rows', { rows: [{ id: 1 }] }],
  ])('reads rows from %s', (_name, data) => {
    const simulation = drain(graph, [data])
    expect(simulation.state().steps.get('start')?.data).toMatchObject({ frames: 1, rows: 1 })
  })

  it.each<[string, Json]>([
    ['nothing', null],
    ['a text', 'rows'],
    ['a number of rows', { row_count: 3 }],
  ])('takes %s for no rows', (_name, data) => {
    expect(drain(graph, [data]).state().steps.get('start')?.data).toMatchObject({ frames: 0, rows: 0 })
  })

  it('runs its set once, after the drain', () => {
    const simulation = drain(cursor('{max_rows: 2}', "set: {ctx.n: '{{ output.rows }}'}"), [rows(1, 2)])
    expect(simulation.lines().filter((line) => line.startsWith('ctx.updated'))).toEqual([
      'ctx.updated start set {"n":2}',
    ])
  })

  it('renders its sizes, and refuses those that are none', () => {
    const sizes = (text: string): Graph => cursor(`{max_rows: '${text}', row_concurrency: '${text}'}`)
    const simulation = runThrough(sizes('{{ 1 + 1 }}'), () => ({ rows: [] }), started())
    expect(simulation.events.find((event) => event.nodeType === 'postgres')?.context).toMatchObject({
      tool_config: { command: 'take 2 of q' },
    })
    const { simulation: refused } = given(sizes('{{ 0 }}')).when(started())
    expect(refused.state().error).toBe(
      "Orchestrator evaluate failed: Step 'start': row_concurrency must be an integer of at least 1, got 0",
    )
  })

  it('starts anew when its step is entered again', () => {
    const again = aPlaybook(`
  - step: start
    loop: {cursor: {claim: take}, iterator: job, spec: {mode: cursor}}
    ${NOOP}
    set: {ctx.rounds: '{{ (ctx.rounds | default(0)) + 1 }}', ctx.frames: '{{ output.frames }}'}
    next: {arcs: [{step: start, when: '{{ ctx.rounds < 2 }}'}]}`)
    const simulation = drain(again, [rows(1), { rows: [] }, rows(2), rows(3)])
    expect(simulation.state().vars).toEqual({ rounds: 2, frames: 2 })
  })
})

describe('a row that fails', () => {
  it('stops the loop after the rows under way, and fails the step', () => {
    const graph = cursor('{max_rows: 4, row_concurrency: 2}')
    const past = [started(), completed('start', rows(1, 2, 3, 4)), failed('start#0', 'bad row')]
    const { simulation } = given(graph, past)
      .when(completed('start#1'))
      .thenEvents(
        'command.completed start',
        'step.exit start handled -> after',
        'step.enter after',
        'command.issued after',
      )
    expect(simulation.state().steps.get('start')).toMatchObject({
      outcome: 'error',
      error: { message: 'bad row' },
      data: { cursor: 'stopped', frames: 0, rows: 2, stats: { total: 2, success: 1, failed: 1 } },
    })
  })

  it('is counted by a loop that goes on over errors', () => {
    const graph = cursor('{max_rows: 2}', '', ', on_error: continue')
    const simulation = drain(graph, [rows(1, 2), rows(3)], (id) => (id === 2 ? new Error('bad') : null))
    expect(simulation.state().steps.get('start')).toMatchObject({
      outcome: 'ok',
      data: { cursor: 'drained', frames: 2, rows: 3, stats: { total: 3, success: 2, failed: 1 } },
    })
    expect(simulation.status()).toBe('COMPLETED')
  })
})

describe('a claim that fails', () => {
  it('fails the step, also when the loop goes on over errors of rows', () => {
    const graph = cursor('{max_rows: 2}', '', ', on_error: continue')
    const past = [started(), completed('start', rows(1)), completed('start#0')]
    const { simulation } = given(graph, past).when(failed('start', 'no such table'))
    expect(simulation.state().steps.get('start')).toMatchObject({
      outcome: 'error',
      cursor: null,
      error: { message: 'no such table' },
      data: { cursor: 'stopped', frames: 1, rows: 1, stats: { total: 1, success: 1, failed: 0 } },
    })
  })

  it('leaves nothing of an earlier run for its result', () => {
    const again = aPlaybook(`
  - step: start
    loop: {cursor: {claim: take}, iterator: job, spec: {mode: cursor}}
    ${NOOP}
    next: {arcs: [{step: start, when: "{{ output.cursor == 'drained' }}"}]}`)
    const simulation = createSimulation(again)
    for (const happening of [started(), completed('start', rows(1, 2)), completed('start#0')])
      simulation.tell(happening)
    for (const happening of [completed('start#1'), completed('start', []), failed('start', 'gone')])
      simulation.tell(happening)
    expect(simulation.state().steps.get('start')?.data).toMatchObject({ cursor: 'stopped', rows: 0 })
    expect(simulation.status()).toBe('FAILED')
  })

  it('because its workers were lost fails the step after the last attempt', () => {
    const lost = [1, 2, 3].flatMap((round) => [claimed('start', 'w', `${round}`), expired('start')])
    const { simulation } = given(cursor('{max_rows: 1}'), [started(), ...lost.slice(0, -1)]).when(
      expired('start'),
    )
    expect(simulation.state().steps.get('start')).toMatchObject({
      outcome: 'error',
      error: { kind: 'worker_lost' },
    })
  })
})

it('a row may be parked; its frame waits for it', () => {
  const graph = cursor('{max_rows: 2, row_concurrency: 2}')
  const past = [started(), completed('start', rows(1, 2)), parked('start#0'), completed('start#1')]
  given(graph, past)
    .when(called('start#0', { ok: true }))
    .thenEvents('call.done start', 'command.issued start')
})

it('case 76: a row that is reported twice counts once', () => {
  const graph = cursor('{max_rows: 2, row_concurrency: 2}')
  const simulation = createSimulation(graph)
  simulation.tell(started())
  simulation.tell(completed('start', rows(1, 2)))
  const completion = completed('start#0')(simulation.state())
  simulation.tell(() => completion)
  expect(simulation.tell(() => completion).events).toEqual([])
  expect(simulation.state().steps.get('start')?.cursor).toMatchObject({ processed: 1, outstanding: 1 })
})
