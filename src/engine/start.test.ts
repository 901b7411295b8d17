/** The start of an execution: its workload, what is refused, what fails at once. */
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../contract/json.ts'
import { reported, started } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation, runThrough } from './testing/simulation.ts'
import { given } from './testing/specification.ts'

const NOOP = 'tool: {kind: noop}'
const noop = (): null => null

const workloadOf = (head: string, payload: JsonObject = {}): Json => {
  const simulation = createSimulation(aPlaybook(`  - {step: start, ${NOOP}}`, head))
  const { reply } = simulation.tell(started(payload))
  expect(reply.ok).toBe(true)
  return simulation.state().workload
}

describe('the workload', () => {
  it('case 19: is overlaid by the payload key by key, not in depth', () => {
    expect(workloadOf('workload: {a: 1, n: {x: 1, y: 2}}', { n: { x: 9 }, more: true })).toEqual({
      a: 1,
      n: { x: 9 },
      more: true,
    })
  })

  it('case 21: templates of defaults are rendered once, those of the payload never', () => {
    expect(workloadOf("workload: {run: 'r-{{ execution_id }}', p: x}", { p: '{{ 1 + 1 }}' })).toEqual({
      run: 'r-500',
      p: '{{ 1 + 1 }}',
    })
  })

  it('lets defaults read each other in any order, as they are when rendered', () => {
    const head = `workload: {url: '{{ base }}/x', base: 'http://{{ host }}', host: h, deep: {list: ['{{ url }}']}, whole: '{{ workload.url }}'}`
    expect(workloadOf(head)).toEqual({
      url: 'http://h/x',
      base: 'http://h',
      host: 'h',
      deep: { list: ['http://h/x'] },
      whole: 'http://h/x',
    })
  })

  it('shows a default that reads itself the payload, or nothing', () => {
    const head = `workload: {user: "{{ user | default('bob') }}", a: '{{ b }}', b: '{{ a }}'}`
    expect(workloadOf(head)).toEqual({ user: 'bob', a: null, b: null })
    expect(workloadOf(head, { user: 'eve', a: 1 })).toEqual({ user: 'eve', a: 1, b: 1 })
  })

  it('offers the facts of the execution and the payload', () => {
    const head = `workload: {p: '{{ payload.x }}-{{ input.x }}', j: '{{ job.uuid }}', c: '{{ catalog_id }}', path_: '{{ path }}',
      t: '{{ now() }}', u: '{{ uuid4() }}', none: '{{ constructor }}'}`
    expect(workloadOf(head, { x: 1 })).toEqual({
      p: '1-1',
      j: '500',
      c: '7',
      path_: 'tests/test',
      t: expect.stringMatching(/^2026-01-01/),
      u: '00000000-0000-4000-8000-000000000001',
      none: null,
      x: 1,
    })
  })

  it('that cannot be rendered refuses the start', () => {
    const { simulation } = given(
      aPlaybook(`  - {step: start, ${NOOP}}`, "workload: {a: 1, b: '{{ 1 / 0 }}'}"),
    ).when(started())
    expect(simulation.events).toEqual([])
    const { turn } = given(aPlaybook(`  - {step: start, ${NOOP}}`, "workload: {b: '{{ 1 / 0 }}'}")).when(
      started(),
    )
    expect(turn.reply).toMatchObject({ ok: false, problem: { code: 'invalid' } })
    expect(turn.reply).toMatchObject({ problem: { message: expect.stringMatching(/^workload\.b: .*zero/) } })
  })
})

describe('the start event', () => {
  it('carries what the execution was started with', () => {
    const simulation = createSimulation(aPlaybook(`  - {step: start, ${NOOP}}`))
    simulation.tell(started({}, { parentExecutionId: '44', pool: 'gpu', trace: { id: 't' } }))
    expect(simulation.events[0]).toMatchObject({
      eventType: 'playbook_started',
      nodeName: 'tests/test',
      nodeType: 'execution',
      status: 'STARTED',
      context: { catalog_id: '7', execution_id: '500', path: 'tests/test', workload: {} },
      meta: {
        emitter: 'control_plane',
        entry: 'start',
        pool: 'gpu',
        version: 1,
        parent_execution_id: '44',
        trace: { id: 't' },
      },
    })
    expect(simulation.state()).toMatchObject({
      status: 'RUNNING',
      catalogId: '7',
      path: 'tests/test',
      playbookVersion: 1,
      parentExecutionId: '44',
      pool: 'gpu',
      trace: { id: 't' },
    })
    expect(simulation.issued('start').meta['trace']).toEqual({ id: 't' })
  })

  it('may come without version', () => {
    const simulation = createSimulation(aPlaybook(`  - {step: start, ${NOOP}}`))
    simulation.tell(started({}, { version: null }))
    expect(simulation.state().playbookVersion).toBeNull()
  })

  it('comes once', () => {
    given(aPlaybook(`  - {step: start, ${NOOP}}`), [started()])
      .when(started())
      .thenRefused('conflict', 'Execution 500 has already started')
  })
})

describe('a loop on the entry step', () => {
  const graph = aPlaybook(`  - {step: start, loop: {in: '{{ items }}', iterator: item}, ${NOOP}}`)

  it('starts over a list', () => {
    given(graph)
      .when(started({ items: [1] }))
      .thenEvents('playbook_started tests/test', 'step.enter start over [1]', 'command.issued start#0')
  })

  it('over anything else refuses the start with the type, and nothing is written', () => {
    const values: readonly (readonly [Json, string])[] = [
      [null, 'null'],
      [true, 'bool'],
      [3, 'number'],
      ['a,b', 'string'],
      [{ a: 1 }, 'object'],
    ]
    for (const [items, word] of values) {
      const { simulation } = given(graph)
        .when(started({ items }))
        .thenRefused('invalid', `start step loop.in must resolve to a JSON array, got: ${word}`)
      expect(simulation.events).toEqual([])
    }
    given(graph)
      .when(started())
      .thenRefused('invalid', 'start step loop.in must resolve to a JSON array, got: null')
  })

  it('names the entry step', () => {
    const other = aPlaybook(
      `  - {step: begin, loop: {in: '{{ items }}', iterator: item}, ${NOOP}}`,
      'executor: {spec: {entry_step: begin}}',
    )
    given(other)
      .when(started({ items: 1 }))
      .thenRefused('invalid', 'begin step loop.in must resolve to a JSON array, got: number')
  })

  it('over a literal list is fine', () => {
    const literal = aPlaybook(`  - {step: start, loop: {in: [1, 2], iterator: item}, ${NOOP}}`)
    expect(runThrough(literal, noop, started()).status()).toBe('COMPLETED')
  })

  it('whose template fails starts and fails', () => {
    const broken = aPlaybook(`  - {step: start, loop: {in: '{{ [1 / 0] }}', iterator: item}, ${NOOP}}`)
    const { turn } = given(broken).when(started())
    expect(turn.reply.ok).toBe(true)
    expect(turn.lines.at(-1)).toMatch(/^playbook\.failed Orchestrator evaluate failed: .*zero/)
  })
})

describe('a decision that cannot be made', () => {
  const BROKEN = "'{{ 1 / 0 }}'"
  const places: Readonly<Record<string, string>> = {
    'input of a command': `  - {step: start, tool: {kind: noop, input: {x: ${BROKEN}}}}`,
    'configuration of a command': `  - {step: start, tool: {kind: http, url: ${BROKEN}}}`,
    'guard of a step': `  - {step: start, when: ${BROKEN}, ${NOOP}}`,
    'guard of an arc': `  - {step: start, next: {arcs: [{step: b, when: ${BROKEN}}]}}\n  - {step: b, ${NOOP}}`,
    'set of an arc': `  - {step: start, next: {arcs: [{step: b, set: {ctx.x: ${BROKEN}}}]}}\n  - {step: b, ${NOOP}}`,
    'set of a step': `  - {step: start, set: {ctx.x: ${BROKEN}}}`,
    'collection of a loop': `  - {step: start, next: b}\n  - {step: b, loop: {in: ${BROKEN}, iterator: i}, ${NOOP}}`,
    'admit rule': `  - {step: start, spec: {policy: {admit: {rules: [{when: ${BROKEN}, then: {allow: true}}]}}}, ${NOOP}}`,
  }

  it('case 102: ends the execution FAILED with the reason, wherever the template stands (advance rule 3)', () => {
    for (const [place, workflow] of Object.entries(places)) {
      const { simulation } = given(aPlaybook(workflow)).when(started())
      const last = simulation.events.at(-1)
      expect(simulation.status(), place).toBe('FAILED')
      expect(last?.eventType, place).toBe('playbook.failed')
      expect(last?.error, place).toMatch(/^Orchestrator evaluate failed: Step '(start|b)': .*zero/)
      expect(last?.result, place).toEqual({ status: 'FAILED', context: { error: last?.error } })
      expect(last?.meta, place).toEqual({
        emitted_by: 'orchestrator',
        reason: 'evaluate_error',
        error: last?.error,
      })
    }
  })

  it('cancels the commands that are open', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}}
  - {step: b, tool: {kind: noop, input: {x: ${BROKEN}}}}`)
    const simulation = createSimulation(graph)
    simulation.tell(started())
    const { commandId, eventId } = simulation.command('start')
    const turn = simulation.tell(reported('command.completed', { step: 'start', commandId }))
    expect(turn.changes).toEqual([
      { eventId, status: 'COMPLETED' },
      { eventId: simulation.issued('a').eventId, status: 'CANCELLED' },
    ])
  })
})
