import { describe, expect, test } from 'vitest'
import type { Json } from '../contract/json.ts'
import type { Graph } from '../engine/graph.ts'
import { decodeState, encodeState } from '../engine/snapshot.ts'
import { completed, failed, started } from '../engine/testing/inputs.ts'
import type { Happening } from '../engine/testing/inputs.ts'
import { aPlaybook } from '../engine/testing/playbook.ts'
import { createSimulation } from '../engine/testing/simulation.ts'
import type { StateWeight } from './state-weight.ts'
import { NEW_EXECUTION, weightAfter, weightOf } from './state-weight.ts'

const NOOP = 'tool: {kind: noop}'

/** An execution whose weight is carried along, commit by commit. */
const weighed = (graph: Graph, payload: Record<string, Json> = {}) => {
  const simulation = createSimulation(graph)
  let weight: StateWeight = NEW_EXECUTION
  const tell = (happening: Happening): number => {
    const { events } = simulation.tell(happening)
    weight = weightAfter(weight, simulation.state(), events)
    return weight.bytes
  }
  tell(started(payload))
  return { simulation, tell, bytes: () => weight.bytes }
}

const text = (length: number): string => 'x'.repeat(length)
const SLACK = 16_000

describe('the weight of a state', () => {
  test('grows with what reports leave in it (1)', () => {
    const { tell, bytes } = weighed(
      aPlaybook(`\n  - {step: start, ${NOOP}, next: b}\n  - {step: b, ${NOOP}}`),
    )
    const before = bytes()
    expect(tell(completed('start', { text: text(10_000) }))).toBeGreaterThan(before + 10_000)
  })

  test('counts the workload of a start and the variables that are set (1)', () => {
    const graph = aPlaybook(
      `\n  - {step: start, ${NOOP}, set: {ctx.copy: '{{ workload.big }}x'}, next: b}\n  - {step: b, ${NOOP}}`,
    )
    const { tell, bytes } = weighed(graph, { big: text(5000) })
    expect(bytes()).toBeGreaterThan(NEW_EXECUTION.bytes + 5000)
    expect(tell(completed('start'))).toBeGreaterThan(NEW_EXECUTION.bytes + 10_000)
  })

  test('counts the items of a loop, their results and their commands (1)', () => {
    const graph = aPlaybook(
      `\n  - {step: start, loop: {in: '{{ workload.all }}', iterator: i, spec: {mode: parallel}}, ${NOOP}}`,
    )
    const { tell, bytes } = weighed(graph, { all: Array.from({ length: 500 }, () => text(100)) })
    const opened = bytes()
    expect(opened).toBeGreaterThan(2 * 500 * 100 + 500 * 300)
    for (let index = 0; index < 100; index += 1) tell(completed(`start#${index}`, text(2000)))
    expect(bytes()).toBeGreaterThan(opened + 100 * 2000)
  })

  test('a step that runs again and again weighs what it holds, not what it held (2)', () => {
    const graph = aPlaybook(
      `\n  - {step: start, ${NOOP}, next: again}\n  - {step: again, ${NOOP}, next: start}`,
    )
    const { tell } = weighed(graph)
    for (let round = 0; round < 200; round += 1) {
      const step = round % 2 === 0 ? 'start' : 'again'
      expect(tell(completed(step, { text: text(10_000) }))).toBeLessThan(2 * 40_000 + SLACK)
    }
  })

  test('a loop whose commands are over weighs no more than its results (2)', () => {
    const graph = aPlaybook(
      `\n  - {step: start, loop: {in: '{{ range(2000) | list }}', iterator: i, spec: {mode: parallel}}, ${NOOP}, next: b}\n  - {step: b, ${NOOP}}`,
    )
    const { simulation, tell, bytes } = weighed(graph)
    for (let index = 0; index < 2000; index += 1) tell(completed(`start#${index}`, index))
    expect(weightOf(simulation.state()).bytes).toBeLessThan(40_000)
    // Half of them were outstanding when somebody looked last.
    expect(bytes()).toBeLessThan(2 * 1000 * 500 + SLACK)
  })

  test('is about the same whether carried along, looked at, or loaded from a snapshot (2)', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, spec: {on_error: continue}, next: L}
  - {step: L, loop: {in: '{{ 50 }}', iterator: i, spec: {mode: parallel}}, ${NOOP}, next: b}
  - {step: b, ${NOOP}}`)
    const { simulation, tell, bytes } = weighed(graph, {
      rows: Array.from({ length: 40 }, (_, id) => ({ id })),
    })
    tell(failed('start'))
    for (let index = 0; index < 30; index += 1) tell(completed(`L#${index}`, { text: text(500), index }))
    const looked = weightOf(simulation.state()).bytes
    const loaded = decodeState(encodeState(simulation.state()))
    expect(loaded && weightOf(loaded).bytes).toBe(looked)
    expect(bytes()).toBeGreaterThanOrEqual(looked * 0.9)
    expect(bytes()).toBeLessThan(2 * looked + SLACK)
  })
})
