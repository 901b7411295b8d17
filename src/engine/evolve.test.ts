/** The fold itself, event by event. */
import { describe, expect, it } from 'vitest'
import type { EventRecord } from '../contract/event.ts'
import { anEvent } from '../contract/testing/event.ts'
import { evolve } from './evolve.ts'
import { decodeState, encodeState } from './snapshot.ts'
import { createState } from './state.ts'
import { claimed, completed, expired, failed, started } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation, fold, runThrough } from './testing/simulation.ts'

const NOOP = 'tool: {kind: noop}'
const graph = aPlaybook(`
  - {step: start, ${NOOP}, set: {ctx.n: 1}, next: [a, L]}
  - {step: a, ${NOOP}, spec: {on_error: continue}, next: {arcs: [{step: j, when: '{{ false }}'}]}}
  - {step: L, loop: {in: [1, 2, 3], iterator: i, spec: {mode: parallel}}, ${NOOP}, next: j}
  - {step: j, ${NOOP}}`)

const history = (): readonly EventRecord[] => {
  const simulation = createSimulation(graph)
  for (const happening of [
    started(),
    claimed('start', 'w', '1'),
    expired('start'),
    completed('start', { n: 1 }),
    failed('a'),
    completed('L#1', 'one'),
    completed('L#0'),
    completed('L#2', 'two'),
  ]) {
    simulation.tell(happening)
  }
  return simulation.events
}

const event = (position: number, eventType: string, more: Partial<EventRecord> = {}): EventRecord =>
  anEvent({ position, eventId: String(position), eventType, ...more })

describe('the fold', () => {
  it('case 105: applying any event twice changes nothing (rule 1)', () => {
    const state = createState('500')
    const events = history()
    for (const [index, each] of events.entries()) {
      evolve(state, each)
      const before = encodeState(state)
      evolve(state, each)
      if (index > 0) evolve(state, events[index - 1] as EventRecord)
      expect(encodeState(state)).toBe(before)
    }
  })

  it('case 105: a snapshot at any position plus the tail gives the same state', () => {
    const events = history()
    const whole = encodeState(fold(events))
    for (const position of events.keys()) {
      const resumed = decodeState(encodeState(fold(events.slice(0, position))))
      if (!resumed) throw new Error('the snapshot was not read')
      for (const each of events) evolve(resumed, each)
      expect(encodeState(resumed)).toBe(whole)
    }
  })

  it('ignores unknown types but counts their position (rule 2)', () => {
    const state = fold(history())
    const before = encodeState(state)
    evolve(
      state,
      event(state.position + 1, 'weather.report', {
        nodeName: 'start',
        meta: { emitted_by: 'orchestrator' },
      }),
    )
    expect(encodeState({ ...state, position: state.position - 1 })).toBe(before)
  })

  it('keeps the first terminal event; later events only move the position (rule 3)', () => {
    const state = fold(history())
    expect(state.status).toBe('RUNNING')
    evolve(state, event(state.position + 1, 'playbook.failed', { error: 'first' }))
    evolve(state, event(state.position + 1, 'playbook.completed'))
    evolve(
      state,
      event(state.position + 1, 'step.enter', { nodeName: 'j', meta: { emitted_by: 'orchestrator' } }),
    )
    expect(state).toMatchObject({ status: 'FAILED', error: 'first', tokens: [], settled: [] })
    expect([state.commands.size, state.running.size, state.deadTargets.size]).toEqual([0, 0, 0])
  })

  it('ignores reports about commands that ended before (rule 4)', () => {
    const state = fold(history())
    const before = encodeState(state)
    for (const type of ['command.completed', 'command.failed', 'command.claimed', 'call.done']) {
      evolve(
        state,
        event(state.position + 1, type, { nodeName: 'start', meta: { command_id: '500:start:1003' } }),
      )
      evolve(state, event(state.position + 1, type, { nodeName: 'start' }))
    }
    expect(encodeState({ ...state, position: state.position - 8 })).toBe(before)
  })

  it('ignores malformed events of its own kinds', () => {
    const state = fold(history())
    const before = encodeState(state)
    const own = { meta: { emitted_by: 'orchestrator', command_id: 'missing' } }
    const types = [
      'step.enter',
      'step.skipped',
      'step.exit',
      'command.issued',
      'command.released',
      'ctx.updated',
      'playbook_started',
    ]
    for (const type of types) evolve(state, event(state.position + 1, type, own))
    expect(encodeState({ ...state, position: state.position - types.length })).toBe(before)
  })

  it('reads a start of an older form', () => {
    const state = createState('500')
    evolve(state, event(1, 'playbook.started', { nodeName: 'some/path', context: 'odd' }))
    expect(state).toMatchObject({
      status: 'RUNNING',
      path: 'some/path',
      pool: 'shared',
      workload: {},
      tokens: [{ from: '', to: 'start' }],
    })
  })

  it('counts steps, not runs: entered, completed, failed', () => {
    const cycle = aPlaybook(`
  - {step: start, ${NOOP}, set: {ctx.n: '{{ (ctx.n | default(0)) + 1 }}'}, spec: {on_error: continue},
     next: {arcs: [{step: start, when: '{{ (ctx.n | default(0)) < 2 }}'}, {step: b}]}}
  - {step: b, ${NOOP}}`)
    const outcomes: (Error | null)[] = [new Error('x'), null, null, new Error('y')]
    const simulation = runThrough(cycle, () => outcomes.shift() ?? null, started())
    expect(simulation.runs()).toEqual(['start', 'start', 'start', 'b'])
    expect(simulation.state().counts).toEqual({ entered: 2, completed: 1, failed: 1 })
    expect(simulation.state()).toMatchObject({ stepRuns: 4, currentStep: 'b' })
  })
})

describe('a snapshot', () => {
  it('survives the way through text', () => {
    const state = fold(history())
    const text = encodeState(state)
    const read = decodeState(text)
    expect(read).toEqual(state)
    expect(read && encodeState(read)).toBe(text)
  })

  it('of another format is not read', () => {
    const text = encodeState(createState('500'))
    expect(decodeState(text.replace(/"format":\d+/, '"format":0'))).toBeNull()
  })
})
