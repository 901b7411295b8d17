/** Retrying in place: what runs again, what stays, and what cannot be retried. Numbers are those of the files' headers. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../contract/json.ts'
import type { Happening } from './testing/inputs.ts'
import { cancelled, childEnded, completed, failed, finalized, reported, started } from './testing/inputs.ts'
import { aPlaybook, graphOf } from './testing/playbook.ts'
import { createRandom } from './testing/random.ts'
import { randomFlags, randomPlaybook } from './testing/random-playbook.ts'
import { createRandomWorker } from './testing/random-worker.ts'
import { createSimulation, isFoldOf } from './testing/simulation.ts'
import { given } from './testing/specification.ts'

const NOOP = 'tool: {kind: noop}'

const reopened =
  (steps: readonly string[] | null = null, variables: JsonObject = {}): Happening =>
  () => ({ type: 'reopen', steps, variables, reason: null })

const chain = aPlaybook(`
  - {step: start, ${NOOP}, next: b}
  - {step: b, ${NOOP}, next: c}
  - {step: c, ${NOOP}}`)
const failedChain = [started(), completed('start', 1), failed('b', 'no')]

describe('a failed execution that is retried', () => {
  it('runs its failed step again and may end again', () => {
    const { simulation } = given(chain, failedChain)
      .when(reopened())
      .thenEvents('playbook.reopened playbook', 'step.enter b', 'command.issued b')
    expect(simulation.events.at(-3)).toMatchObject({
      eventType: 'playbook.reopened',
      status: 'RUNNING',
      meta: { steps: ['b'], emitted_by: 'orchestrator' },
    })
    expect(simulation.state()).toMatchObject({
      status: 'RUNNING',
      error: null,
      finishedAt: null,
      failures: [],
    })
    expect(simulation.state().counts).toEqual({ entered: 2, completed: 1, failed: 0 })
    simulation.tell(completed('b', 2))
    simulation.tell(completed('c', 3))
    expect(simulation.status()).toBe('COMPLETED')
    expect(simulation.state().counts).toEqual({ entered: 3, completed: 3, failed: 0 })
    expect(isFoldOf(simulation.state(), simulation.events)).toBe(true)
  })

  it('may fail again, and be retried again', () => {
    const { simulation } = given(chain, [...failedChain, reopened(), failed('b', 'still no')]).when(
      reopened(),
    )
    simulation.tell(completed('b'))
    simulation.tell(completed('c'))
    expect(simulation.status()).toBe('COMPLETED')
    expect(simulation.lines().filter((line) => line.startsWith('playbook.'))).toEqual([
      "playbook.failed Step 'b' failed: no",
      'playbook.reopened playbook',
      "playbook.failed Step 'b' failed: still no",
      'playbook.reopened playbook',
      'playbook.completed null',
    ])
  })

  it('sees variables that came with the retry (3)', () => {
    const graph = aPlaybook(`
  - {step: start, tool: {kind: noop, input: {url: '{{ ctx.url }}'}}}`)
    const { simulation } = given(graph, [started(), failed('start')]).when(reopened(null, { url: 'other' }))
    expect(simulation.issued('start').context).toMatchObject({ args: { url: 'other' } })
  })

  it('can be told only to opening words of the control plane', () => {
    const { simulation } = given(chain, failedChain).when(
      reported('playbook.reopened', { meta: { steps: ['b'], emitted_by: 'orchestrator' } }),
    )
    expect(simulation.status()).toBe('FAILED')
  })
})

describe('a join that was given up', () => {
  const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}, next: {arcs: [{step: join, when: '{{ output.go }}'}]}}
  - {step: b, ${NOOP}, next: join}
  - {step: join, ${NOOP}, next: last}
  - {step: last, ${NOOP}}`)
  const past = [started(), completed('start'), completed('b', 'B'), failed('a')]

  it('runs once, with both, when the failed branch leads to it (state 3)', () => {
    const { simulation } = given(graph, [...past, reopened()]).when(completed('a', { go: true }))
    expect(simulation.open()).toEqual(['join'])
    simulation.tell(completed('join'))
    simulation.tell(completed('last'))
    expect(simulation.status()).toBe('COMPLETED')
    expect(simulation.runs().filter((name) => name === 'join')).toHaveLength(1)
  })

  it('runs for the other branch alone when the failed one now goes elsewhere (state 3)', () => {
    const { simulation } = given(graph, [...past, reopened()]).when(completed('a', { go: false }))
    expect(simulation.open()).toEqual(['join'])
  })

  it('is given up again when only another failure is retried (state 4)', () => {
    const two = aPlaybook(`
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}, next: join}
  - {step: b, ${NOOP}, next: join}
  - {step: join, ${NOOP}}`)
    const both = [started(), completed('start'), failed('a', 'A'), failed('b', 'B')]
    const { simulation } = given(two, [...both, reopened(['a'])]).when(completed('a'))
    expect(simulation.status()).toBe('FAILED')
    expect(simulation.state().error).toBe("Step 'b' failed: B")
    expect(simulation.runs()).not.toContain('join')
  })
})

describe('a loop that failed (state 2)', () => {
  const graph = aPlaybook(`
  - step: start
    loop: {in: [a, b, c, d, e], iterator: item, spec: {mode: parallel, max_in_flight: 3}}
    tool: {kind: noop, input: {item: '{{ item }}'}}
    next: end
  - {step: end, tool: {kind: noop, input: {all: '{{ start.results }}'}}}`)

  it('does again what failed and what was not begun, and keeps the rest', () => {
    const simulation = createSimulation(graph)
    for (const each of [
      started(),
      completed('start#0', 'A'),
      failed('start#1'),
      completed('start#2', 'C'),
      completed('start#3', 'D'),
    ])
      simulation.tell(each)
    expect(simulation.status()).toBe('FAILED')
    const turn = simulation.tell(reopened())
    expect(turn.lines).toEqual([
      'playbook.reopened playbook',
      'command.issued start#1',
      'command.issued start#4',
    ])
    simulation.tell(completed('start#4', 'E'))
    simulation.tell(completed('start#1', 'B'))
    expect(simulation.issued('end').context).toMatchObject({ args: { all: ['A', 'B', 'C', 'D', 'E'] } })
    expect(simulation.state().steps.get('start')).toMatchObject({
      data: { stats: { total: 5, success: 5, failed: 0 } },
      stopped: null,
    })
    expect(isFoldOf(simulation.state(), simulation.events)).toBe(true)
  })
})

describe('an execution that was stopped (state 1)', () => {
  const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}, next: join}
  - {step: b, ${NOOP}, next: join}
  - {step: join, ${NOOP}}`)
  const past = [started(), completed('start'), completed('a', 'A')]

  it.each([
    ['cancelled', cancelled('by mistake')],
    ['finalized as failed', finalized('FAILED', 'by hand')],
    ['failed by a report', reported('playbook.failed')],
  ])('because it was %s goes on with what was under way', (_name, end) => {
    const { simulation } = given(graph, [...past, end]).when(reopened())
    expect(simulation.open()).toEqual(['b'])
    simulation.tell(completed('b', 'B'))
    simulation.tell(completed('join'))
    expect(simulation.status()).toBe('COMPLETED')
    expect(simulation.runs()).toEqual(['start', 'a', 'b', 'b', 'join'])
  })

  it('goes on with the iterations that had not ended', () => {
    const loop = aPlaybook(`
  - {step: start, loop: {in: [1, 2, 3], iterator: item, spec: {mode: parallel, max_in_flight: 2}}, ${NOOP}}`)
    const { turn } = given(loop, [started(), completed('start#1'), cancelled()]).when(reopened())
    expect(turn.lines).toEqual([
      'playbook.reopened playbook',
      'command.issued start#0',
      'command.issued start#2',
    ])
  })

  it('decides again what could not be decided', () => {
    const broken = aPlaybook(`
  - {step: start, ${NOOP}, next: {arcs: [{step: b, when: '{{ 1 / (ctx.divisor | default(0)) > 0 }}'}]}}
  - {step: b, ${NOOP}}`)
    const { simulation } = given(broken, [started(), completed('start')]).when(reopened(null, { divisor: 1 }))
    expect(simulation.open()).toEqual(['b'])
  })

  it('with the final step once more at its end', () => {
    const final = aPlaybook(
      `
  - {step: start, ${NOOP}}
  - {step: bye, ${NOOP}}`,
      'executor: {spec: {final_step: bye}}',
    )
    const { simulation } = given(final, [started(), failed('start'), completed('bye'), reopened()]).when(
      completed('start'),
    )
    expect(simulation.open()).toEqual(['bye'])
  })
})

describe('a child that was opened again before its parent heard of its end', () => {
  it('is waited for on', () => {
    const parent = aPlaybook(`
  - {step: start, tool: {kind: playbook, path: tests/child, return_result: true}}`)
    given(parent, [started()])
      .when(childEnded('start', { status: 'RUNNING' }))
      .thenNothing()
  })
})

describe('refused is a retry', () => {
  it.each<[string, readonly Happening[], readonly string[] | null, string, string]>([
    [
      'of what still runs',
      [started()],
      null,
      'conflict',
      'Execution 500 is still running; there is nothing to retry yet',
    ],
    [
      'of what completed',
      [started(), completed('start'), completed('b'), completed('c')],
      null,
      'conflict',
      'Execution 500 is COMPLETED and nothing in it failed; rerun it to run it again',
    ],
    [
      'of a step nobody knows',
      failedChain,
      ['x'],
      'invalid',
      "Step 'x' is not in the playbook; it has: start, b, c",
    ],
    [
      'of a step that did not fail',
      failedChain,
      ['start'],
      'invalid',
      "Step 'start' did not fail; these did: b",
    ],
  ])('%s', (_name, past, steps, code, message) => {
    given(chain, past)
      .when(reopened(steps))
      .thenRefused(code as 'conflict', message)
  })
})

describe('random executions that failed or were cancelled', () => {
  it('run to their end when they are retried, and are the fold of their log all the way', () => {
    let retried = 0
    for (let seed = 1; seed <= 150; seed += 1) {
      const random = createRandom(seed)
      const text = randomPlaybook(random, {
        maxSteps: 9,
        cycles: random.chance(0.3),
        loops: true,
        extras: true,
      })
      const simulation = createSimulation(graphOf(text))
      simulation.tell(started(randomFlags(random)))
      const worker = createRandomWorker(random, 0.3)
      for (let turns = 0; simulation.status() === 'RUNNING'; turns += 1)
        simulation.tell(turns === 60 ? cancelled() : worker.act(simulation.state()).happening)
      if (!simulation.tell(reopened()).reply.ok) continue
      retried += 1
      for (let name = simulation.open()[0]; name !== undefined; name = simulation.open()[0]) {
        simulation.tell(completed(name, simulation.command(name).isClaim ? [] : { ok: true }))
        if (!isFoldOf(simulation.state(), simulation.events)) throw new Error(`seed ${seed}: not the fold`)
      }
      expect(simulation.status(), `seed ${seed}\n${text}`).not.toBe('RUNNING')
      const failures = simulation.state().failures.filter(({ error }) => !error.startsWith('No arc of step'))
      expect(failures, `seed ${seed}\n${text}`).toEqual([])
    }
    expect(retried).toBeGreaterThan(30)
  })
})
