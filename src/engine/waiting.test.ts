/** Commands that wait for a child, and clocks that run out: told late, told twice, told to nobody. */
import { describe, expect, it } from 'vitest'
import type { ExecutionStatus } from '../contract/event.ts'
import type { Json } from '../contract/json.ts'
import {
  cancelled,
  childEnded,
  claimed,
  completed,
  failed,
  finalized,
  parked,
  started,
  timedOut,
} from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation } from './testing/simulation.ts'
import type { Simulation } from './testing/simulation.ts'
import { given } from './testing/specification.ts'

const NOOP = 'tool: {kind: noop}'
const graph = aPlaybook(`
  - {step: start, tool: {kind: playbook, path: tests/child, return_result: true}, next: b}
  - {step: b, ${NOOP}}`)

const waiting = [started(), claimed('start', 'w1', '1'), parked('start', 180_000)]

describe('a command that runs another playbook', () => {
  it('says how deep it is nested, and its start says who waits', () => {
    const simulation = createSimulation(graph)
    simulation.tell(started({}, { depth: 3, parentExecutionId: '400', parentCommandId: '400:x:1' }))
    expect(simulation.issued('start')).toMatchObject({ nodeType: 'playbook', meta: { depth: 3 } })
    expect(simulation.state()).toMatchObject({
      depth: 3,
      parentExecutionId: '400',
      parentCommandId: '400:x:1',
    })
    expect(simulation.events[0]?.meta).toMatchObject({
      depth: 3,
      parent_execution_id: '400',
      parent_command_id: '400:x:1',
    })
  })

  it('carries no depth when it runs something else', () => {
    const simulation = createSimulation(graph)
    simulation.tell(started())
    simulation.tell(completed('start'))
    expect(simulation.issued('b').meta['depth']).toBeUndefined()
  })
})

describe('a child that completed', () => {
  it('ends the command that waits for it', () => {
    const { turn } = given(graph, waiting)
      .when(childEnded('start', { data: { score: 7 } }))
      .thenEvents('command.completed start', 'step.exit start -> b', 'step.enter b', 'command.issued b')
    expect(turn.changes).toEqual([{ eventId: expect.any(String), status: 'COMPLETED' }])
    expect(turn.events[0]).toMatchObject({ meta: { emitted_by: 'orchestrator' }, status: 'COMPLETED' })
  })

  it('may be told of before its command was parked', () => {
    const { simulation } = given(graph, waiting.slice(0, 2))
      .when(childEnded('start', { data: 1 }))
      .thenEvents('command.completed start', 'step.exit start -> b', 'step.enter b', 'command.issued b')
    expect(simulation.open()).toEqual(['b'])
  })

  it.each<Json>([null, 'text', [1, 2], { score: 7, status: 'its own' }])('gives %j to the step', (data) => {
    const { simulation } = given(graph, waiting).when(childEnded('start', { data }))
    expect(simulation.state().steps.get('start')?.data).toEqual(data)
  })

  it('is an iteration like any other in a loop', () => {
    const loop = aPlaybook(`
  - step: start
    loop: {in: [a, b], iterator: item, spec: {mode: parallel}}
    tool: {kind: playbook, path: tests/child, return_result: true, input: {x: '{{ item }}'}}`)
    const past = [started(), parked('start#0'), parked('start#1'), childEnded('start#1', { data: 'B' })]
    const { simulation } = given(loop, past).when(childEnded('start#0', { data: 'A', childId: '901' }))
    expect(simulation.status()).toBe('COMPLETED')
    expect(simulation.state().steps.get('start')?.data).toMatchObject({ results: ['A', 'B'] })
  })
})

describe('a child that did not complete', () => {
  it.each<[ExecutionStatus, string | null, string]>([
    ['FAILED', "Step 'x' failed: no", "Playbook tests/child (execution 900) failed: Step 'x' failed: no"],
    ['FAILED', null, 'Playbook tests/child (execution 900) failed'],
    ['CANCELLED', 'not needed', 'Playbook tests/child (execution 900) was cancelled: not needed'],
  ])('because it %s (%s) fails the command', (status, error, message) => {
    const { turn, simulation } = given(graph, waiting).when(childEnded('start', { status, error }))
    expect(turn.changes[0]).toMatchObject({ status: 'FAILED' })
    expect(simulation.state().steps.get('start')?.error).toEqual({
      kind: 'sub_playbook',
      code: `CHILD_${status}`,
      message,
      retryable: false,
    })
    expect(simulation.state().error).toBe(`Step 'start' failed: ${message}`)
  })
})

describe('told again', () => {
  const twice = (first: 'child' | 'clock', second: 'child' | 'clock'): Simulation => {
    const simulation = createSimulation(graph)
    for (const happening of waiting) simulation.tell(happening)
    const inputs = {
      child: childEnded('start', { data: 1 })(simulation.state()),
      clock: timedOut('start')(simulation.state()),
    }
    simulation.tell(() => inputs[first])
    const turn = simulation.tell(() => inputs[second])
    expect(turn).toMatchObject({ reply: { ok: true, duplicate: true }, events: [], changes: [] })
    return simulation
  }

  it.each([
    ['child', 'child'],
    ['child', 'clock'],
    ['clock', 'child'],
    ['clock', 'clock'],
  ] as const)('the %s, then the %s: only the first one counts', (first, second) => {
    expect(twice(first, second).status()).toBe(first === 'child' ? 'RUNNING' : 'FAILED')
  })

  it('when the execution is over, nothing is written', () => {
    const simulation = createSimulation(graph)
    for (const happening of waiting) simulation.tell(happening)
    const late = childEnded('start')(simulation.state())
    simulation.tell(cancelled())
    expect(simulation.tell(() => late)).toMatchObject({ reply: { ok: true, duplicate: true }, events: [] })
  })
})

describe('the clock', () => {
  it('ends only what is parked', () => {
    given(graph, waiting.slice(0, 2)).when(timedOut('start')).thenNothing()
  })
})

describe('the end of an execution that somebody waits for', () => {
  const child = aPlaybook(`  - {step: start, ${NOOP}}`)
  const begun = started({}, { parentExecutionId: '400', parentCommandId: '400:x:1', depth: 1 })
  const told = {
    timerId: expect.stringMatching(/^\d+$/),
    kind: 'child_ended',
    delayMs: 0,
    payload: { parent_execution_id: '400', command_id: '400:x:1' },
  }

  it.each([
    ['completes', completed('start')],
    ['fails', failed('start')],
    ['is cancelled', cancelled()],
    ['is finalized', finalized('FAILED', 'by hand')],
  ])('tells so when it %s', (_name, happening) => {
    const { turn } = given(child, [begun]).when(happening)
    expect(turn.timers).toEqual([told])
  })

  it('tells so when it fails at its very start', () => {
    const broken = aPlaybook(`  - {step: start, tool: {kind: noop, input: {x: '{{ 1 / 0 }}'}}}`)
    const { turn, simulation } = given(broken).when(begun)
    expect(simulation.status()).toBe('FAILED')
    expect(turn.timers).toEqual([told])
  })

  it('tells nobody when nobody waits', () => {
    const alone = started({}, { parentExecutionId: '400' })
    expect(given(child, [alone]).when(completed('start')).turn.timers).toEqual([])
  })

  it('tells once: what comes after the end tells nothing', () => {
    expect(given(child, [begun, completed('start')]).when(cancelled()).turn.timers).toEqual([])
  })
})
