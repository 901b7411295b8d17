/** What templates see of results: of single tools, pipelines, loops, and of the execution as a whole. */
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../contract/json.ts'
import { completed, failed, started } from './testing/inputs.ts'
import type { Happening } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation } from './testing/simulation.ts'

/** The values that these templates have for the step after `start`. */
const seenAfter = (
  tool: string,
  happenings: readonly Happening[],
  templates: Readonly<Record<string, string>>,
): Json => {
  const graph = aPlaybook(
    `
  - {step: start, ${tool}, spec: {on_error: continue}, next: after}
  - {step: after, tool: {kind: noop, input: ${JSON.stringify(templates)}}}`,
    'workload: {w: 1}',
  )
  const simulation = createSimulation(graph)
  simulation.tell(started())
  for (const happening of happenings) simulation.tell(happening)
  return (simulation.issued('after').context as JsonObject)['args'] ?? null
}

const SINGLE = 'tool: {kind: noop}'
const PIPELINE = 'tool: [{first: {kind: noop}}, {second: {kind: noop}}]'

describe('data of a single tool', () => {
  it('is itself below data, result and context unless it has such a key (rule 1)', () => {
    const templates = {
      d: '{{ start.data.n }}',
      r: '{{ start.result.data.n }}',
      c: '{{ start.context.n }}',
      none: '{{ start.other }}',
    }
    expect(seenAfter(SINGLE, [completed('start', { n: 1 })], templates)).toEqual({
      d: 1,
      r: 1,
      c: 1,
      none: null,
    })
    expect(seenAfter(SINGLE, [completed('start', { data: { n: 2 } })], { d: '{{ start.data.n }}' })).toEqual({
      d: 2,
    })
  })

  it('is passed on whole without any of that (rule 1)', () => {
    expect(
      seenAfter(SINGLE, [completed('start', { n: 1 })], { whole: '{{ start }}', data: '{{ start.data }}' }),
    ).toEqual({
      whole: { n: 1 },
      data: { n: 1 },
    })
  })

  it('may be no mapping at all', () => {
    const templates = { whole: '{{ start }}', first: '{{ start[0] }}', data: '{{ start.data }}' }
    expect(seenAfter(SINGLE, [completed('start', [4, 5])], templates)).toEqual({
      whole: [4, 5],
      first: 4,
      data: null,
    })
  })

  it('has no members that only JavaScript knows', () => {
    const templates = {
      a: '{{ start.constructor }}',
      b: '{{ start.__proto__ }}',
      c: '{{ ctx.hasOwnProperty }}',
    }
    expect(seenAfter(SINGLE, [completed('start', { n: 1 })], templates)).toEqual({
      a: null,
      b: null,
      c: null,
    })
  })
})

describe('data of a pipeline', () => {
  const data = {
    first: { x: 1, y: 'first' },
    second: { y: 'second', second: 'hidden' },
    _context_updates: { z: 1 },
  }

  it('case 80: has its labels first, then every key of every task, later tasks winning (rule 3)', () => {
    const templates = {
      label: '{{ start.first.x }}',
      labelData: '{{ start.first.data.x }}',
      flat: '{{ start.x }}',
      later: '{{ start.y }}',
      results: '{{ start.results.first.y }}',
      second: '{{ start.second.y }}',
      data: '{{ start.data.x }}',
      updates: '{{ start._context_updates }}',
      missing: '{{ start.nothing }}',
    }
    expect(seenAfter(PIPELINE, [completed('start', data)], templates)).toEqual({
      label: 1,
      labelData: 1,
      flat: 1,
      later: 'second',
      results: 'first',
      second: 'second',
      data: 1,
      updates: null,
      missing: null,
    })
  })

  it('is whole without exports; a key that equals a label does not replace the label (rule 3)', () => {
    expect(seenAfter(PIPELINE, [completed('start', data)], { whole: '{{ start }}' })).toEqual({
      whole: { x: 1, y: 'second', first: { x: 1, y: 'first' }, second: { y: 'second', second: 'hidden' } },
    })
  })

  it('a task whose data is no mapping contributes its label only', () => {
    const templates = { first: '{{ start.first }}', y: '{{ start.y }}', whole: '{{ start }}' }
    expect(seenAfter(PIPELINE, [completed('start', { first: 3, second: { y: 1 } })], templates)).toEqual({
      first: 3,
      y: 1,
      whole: { first: 3, second: { y: 1 }, y: 1 },
    })
  })

  it('that failed still has the tasks that ran', () => {
    const happenings = [failed('start', 'no', { first: { x: 1 }, _failed_task: 'second' })]
    expect(
      seenAfter(PIPELINE, happenings, {
        x: '{{ start.first.x }}',
        failed: '{{ start._failed_task }}',
        whole: '{{ start }}',
      }),
    ).toEqual({
      x: 1,
      failed: 'second',
      whole: { x: 1, first: { x: 1 } },
    })
  })
})

describe('data of a loop', () => {
  const LOOP = 'loop: {in: [1, 2], iterator: i}, tool: {kind: noop}'
  const done = [completed('start#0', { id: 7 }), completed('start#1', { id: 8 })]

  it('acts as its list of results (rule 2)', () => {
    const templates = {
      data: '{{ start.data }}',
      second: '{{ start[1].id }}',
      ids: "{{ start | map(attribute='id') | list }}",
      self: '{{ start.result.stats.total }}',
      missing: '{{ start.nothing }}',
    }
    expect(seenAfter(LOOP, done, templates)).toEqual({
      data: [{ id: 7 }, { id: 8 }],
      second: 8,
      ids: [7, 8],
      self: 2,
      missing: null,
    })
  })
})

describe('the execution as a whole', () => {
  it('steps has the stored envelope of every result', () => {
    const templates = {
      one: '{{ steps.start.context.result.context.data.n }}',
      all: '{{ steps }}',
      none: '{{ steps.after is defined }}',
    }
    const envelope = {
      status: 'COMPLETED',
      context: { result: { status: 'success', context: { status: 'success', data: { n: 1 } } } },
    }
    expect(seenAfter(SINGLE, [completed('start', { n: 1 })], templates)).toEqual({
      one: 1,
      all: { start: envelope },
      none: false,
    })
  })

  it('the envelope of a failed step carries its error', () => {
    const templates = {
      status: '{{ steps.start.status }}',
      error: '{{ steps.start.context.result.context.error.message }}',
    }
    expect(seenAfter(SINGLE, [failed('start', 'no', { n: 1 })], templates)).toEqual({
      status: 'FAILED',
      error: 'no',
    })
  })

  it('ctx is every variable by name', () => {
    expect(
      seenAfter(SINGLE, [completed('start', { n: 1, _context_updates: { v: 2 } })], { all: '{{ ctx }}' }),
    ).toEqual({
      all: {
        path: 'tests/test',
        w: 1,
        start: { n: 1, _context_updates: { v: 2 } },
        v: 2,
        execution_id: '500',
        catalog_id: '7',
      },
    })
  })
})

describe('the output of an arc', () => {
  const routed = (guard: string, happening: Happening): boolean => {
    const graph = aPlaybook(`
  - {step: start, tool: {kind: noop}, next: {arcs: [{step: yes, when: ${JSON.stringify(guard)}}]}}
  - {step: yes, tool: {kind: noop}}`)
    const simulation = createSimulation(graph)
    simulation.tell(started())
    simulation.tell(happening)
    return simulation.runs().includes('yes')
  }

  it('taken whole is the data', () => {
    expect(routed('{{ output == {"n": 1} }}', completed('start', { n: 1 }))).toBe(true)
    expect(routed('{{ output == 5 }}', completed('start', 5))).toBe(true)
    expect(routed('{{ output is none or not output }}', completed('start'))).toBe(true)
  })

  it('has the error in every form', () => {
    const error = { kind: 'http', code: 'HTTP_503', message: 'busy', retryable: true, http_status: 503 }
    const happening: Happening = (state) => ({ ...failed('start')(state), context: { error } }) as never
    for (const guard of [
      '{{ output.error.status == 503 }}',
      '{{ error.http_status == 503 and error.retryable }}',
      "{{ output.error.kind == 'http' and output.data is none }}",
    ]) {
      expect(routed(guard, happening), guard).toBe(true)
    }
  })

  it('has what a part called data lacks from the whole, and the part as it is', () => {
    const answer = { status_code: 422, body: { error: 'no' }, data: { error: 'no', none: null } }
    for (const guard of [
      "{{ output.data.error == 'no' and output.data.body.error == 'no' and output.data.data.error == 'no' }}",
      '{{ output.data.status_code == 422 and output.status_code == 422 }}',
      '{{ output.data == {"error": "no", "none": null} }}',
      '{{ output.data.none is none and output.data.nothing is not defined }}',
    ]) {
      expect(routed(guard, completed('start', answer)), guard).toBe(true)
    }
  })

  it('keeps an error that is only data of a success', () => {
    expect(
      routed(
        "{{ output.error == 'soft' and output.status == 'success' }}",
        completed('start', { error: 'soft' }),
      ),
    ).toBe(true)
  })
})
