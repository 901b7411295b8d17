/**
 * Forks: what they keep, what they run again, and the laws that hold for forks of random executions.
 *
 * 1. The state of a fork is the fold of its own log, and equals what was cut out of its origin.
 * 2. A fork ends, and completes when its tools do.
 * 3. A fork from nothing is a fresh run.
 */
import { describe, expect, it } from 'vitest'
import type { EventRecord } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import type { ForkPoint } from './fork.ts'
import { createForkFold, fitSeed, seedOf } from './fork.ts'
import type { Graph } from './graph.ts'
import { encodeState } from './snapshot.ts'
import type { State } from './state.ts'
import { completed, failed, started } from './testing/inputs.ts'
import { aPlaybook, graphOf } from './testing/playbook.ts'
import { createRandom } from './testing/random.ts'
import { randomFlags, randomPlaybook } from './testing/random-playbook.ts'
import { createRandomWorker } from './testing/random-worker.ts'
import type { Simulation } from './testing/simulation.ts'
import { createSimulation, EXECUTION_ID, fold, runThrough } from './testing/simulation.ts'

const NOOP = 'tool: {kind: noop}'

const cutOut = (graph: Graph, events: readonly EventRecord[], point: ForkPoint): State => {
  const forked = createForkFold(graph, EXECUTION_ID, point)
  for (const event of events) forked.add(event)
  return forked.finish()
}

const fork = (
  origin: Simulation,
  point: ForkPoint,
  more: { variables?: JsonObject; graph?: Graph } = {},
): Simulation => {
  const graph = more.graph ?? origin.graph
  const { seed } = fitSeed(seedOf(cutOut(origin.graph, origin.events, point)), graph)
  const simulation = createSimulation(graph)
  const last = origin.events.at(-1)
  simulation.tell(
    started(origin.state().workload, {
      seed,
      origin: { executionId: '400', eventId: last?.eventId ?? null, position: last?.position ?? 0 },
      ...(more.variables ? { variables: more.variables } : {}),
    }),
  )
  return simulation
}

const enteredAt = ({ events }: Simulation, step: string): number =>
  events.findLast((event) => event.eventType === 'step.enter' && event.nodeName === step)?.position ?? 0

const fromStep = (origin: Simulation, step: string): ForkPoint => ({
  type: 'step',
  step,
  enteredAt: enteredAt(origin, step),
})

const diamond = aPlaybook(`
  - {step: start, ${NOOP}, set: {ctx.began: '{{ output }}'}, next: [a, b]}
  - {step: a, ${NOOP}, set: {ctx.by_a: '{{ output }}'}, next: join}
  - {step: b, ${NOOP}, set: {ctx.by_b: '{{ output }}'}, next: join}
  - {step: join, tool: {kind: noop, input: {a: '{{ a }}', b: '{{ b }}'}}, set: {ctx.joined: true}, next: last}
  - {step: last, ${NOOP}}`)
const answers = (name: string): Json => `${name}!`

describe('from a step', () => {
  const origin = runThrough(diamond, answers, started({ n: 1 }))

  it('keeps what is not behind it, and runs the rest', () => {
    const forked = fork(origin, fromStep(origin, 'a'))
    expect(forked.lines()).toEqual([
      'playbook_started tests/test',
      'ctx.updated kept {"began":"start!","by_b":"b!"}',
      'step.kept start',
      'step.kept b',
      'playbook.seeded playbook',
      'step.enter a',
      'command.issued a',
    ])
    expect(forked.events[0]?.meta).toMatchObject({ origin: { execution_id: '400' }, seeded: true })
    expect(forked.state().origin).toMatchObject({ executionId: '400' })
    forked.runAll(answers)
    expect(forked.runs()).toEqual(['a', 'join', 'last'])
    expect(forked.issued('join').context).toMatchObject({ args: { a: 'a!', b: 'b!' } })
    expect(forked.state().vars).toEqual(origin.state().vars)
    expect(forked.state().counts).toEqual(origin.state().counts)
  })

  it('begins with edited variables', () => {
    const forked = fork(origin, fromStep(origin, 'join'), { variables: { by_a: 'edited', more: 1 } })
    expect(forked.state().vars).toEqual({ began: 'start!', by_a: 'edited', by_b: 'b!', more: 1 })
  })

  it('on a cycle goes on with its latest run', () => {
    const pages = aPlaybook(`
  - step: start
    tool: {kind: noop, input: {page: '{{ ctx.page | default(1) }}'}}
    set: {ctx.page: '{{ (ctx.page | default(1)) + 1 }}'}
    next: {arcs: [{step: start, when: '{{ ctx.page <= 3 }}'}]}`)
    const cycled = runThrough(pages, answers, started())
    const forked = fork(cycled, fromStep(cycled, 'start'))
    expect(forked.issued('start').context).toMatchObject({ args: { page: 3 } })
    expect(forked.state().steps.get('start')).toMatchObject({ run: 3 })
  })
})

describe('from what failed', () => {
  it('runs the failed step again and keeps the rest', () => {
    const origin = runThrough(diamond, (name) => (name === 'a' ? new Error('no') : answers(name)), started())
    expect(origin.status()).toBe('FAILED')
    const forked = fork(origin, { type: 'failed' })
    expect(forked.open()).toEqual(['a'])
    forked.runAll(answers)
    expect(forked.status()).toBe('COMPLETED')
    expect(forked.runs()).toEqual(['a', 'join', 'last'])
  })

  it('goes on with the iterations of a loop that are not done', () => {
    const loop = aPlaybook(`
  - {step: start, loop: {in: [1, 2, 3], iterator: item, spec: {mode: parallel}}, ${NOOP}}`)
    const origin = createSimulation(loop)
    for (const each of [
      started(),
      completed('start#0', 'one'),
      completed('start#2', 'three'),
      failed('start#1'),
    ])
      origin.tell(each)
    const forked = fork(origin, { type: 'failed' })
    expect(forked.open()).toEqual(['start#1'])
    forked.tell(completed('start#1', 'two'))
    expect(forked.state().steps.get('start')?.data).toMatchObject({ results: ['one', 'two', 'three'] })
    expect(forked.status()).toBe('COMPLETED')
  })
})

describe('from an event', () => {
  it('goes on as the execution stood then, and runs again what was under way', () => {
    const origin = runThrough(diamond, answers, started())
    const position =
      origin.events.find((event) => event.eventType === 'command.completed' && event.nodeName === 'a')
        ?.position ?? 0
    const forked = fork(origin, { type: 'position', position })
    // `a` has ended but is not routed yet; `b` was running.
    expect(forked.lines().slice(4)).toEqual([
      'playbook.seeded playbook',
      'ctx.updated a set {"by_a":"a!"}',
      'step.exit a -> join',
      'step.enter b',
      'command.issued b',
    ])
    forked.runAll(answers)
    expect(forked.status()).toBe('COMPLETED')
  })
})

describe('under another version', () => {
  const origin = runThrough(diamond, (name) => (name === 'join' ? new Error('no') : answers(name)), started())

  it('results of steps that are gone are not kept', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: b}
  - {step: b, ${NOOP}, next: join}
  - {step: join, tool: {kind: noop, input: {b: '{{ b }}', began: '{{ ctx.began }}'}}}`)
    const fitted = fitSeed(seedOf(cutOut(diamond, origin.events, { type: 'failed' })), graph)
    expect(fitted).toMatchObject({ dropped: ['a', 'last'], missing: [] })
    const forked = fork(origin, { type: 'failed' }, { graph })
    expect(forked.issued('join').context).toMatchObject({ args: { b: 'b!', began: 'start!' } })
  })

  it('a step to go on with that is gone is told', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}}`)
    expect(fitSeed(seedOf(cutOut(diamond, origin.events, { type: 'failed' })), graph).missing).toEqual([
      'join',
    ])
  })
})

/** What must be equal in the state that was cut out and in the one folded from the log of the fork. */
const essence = (state: State): unknown => {
  const { steps, tokens, settled, vars, deadTargets, running, currentStep, lastCompleted } = state
  const kept = [...steps]
    .filter(([, step]) => step.outcome !== null || step.data !== undefined || step.loop !== null)
    .map(([name, { settledBy: _by, cursor: _cursor, stopped: _stopped, ...step }]) => [
      name,
      { ...step, blocked: false },
    ])
  return JSON.parse(
    JSON.stringify({
      kept,
      tokens,
      settled,
      vars,
      dead: [...deadTargets],
      running: [...running],
      currentStep,
      lastCompleted,
    }),
  ) as unknown
}

const SEEDS = 120

describe('forks of random executions', () => {
  it('keep the laws 1 and 2', { timeout: 60_000 }, () => {
    let forks = 0
    for (let number = 1; number <= SEEDS; number += 1) {
      const random = createRandom(number)
      const text = randomPlaybook(random, {
        maxSteps: 9,
        cycles: random.chance(0.3),
        loops: random.chance(0.7),
        extras: random.chance(0.5),
      })
      const origin = createSimulation(graphOf(text))
      origin.tell(started(randomFlags(random)))
      const worker = createRandomWorker(random, 0.2)
      while (origin.status() === 'RUNNING') origin.tell(worker.act(origin.state()).happening)
      for (const point of pointsOf(origin, random.below)) {
        forks += 1
        checkFork(origin, point, `seed ${number} ${JSON.stringify(point)}\n${text}`)
      }
    }
    expect(forks).toBeGreaterThan(SEEDS * 2)
  })
})

const pointsOf = (origin: Simulation, below: (bound: number) => number): readonly ForkPoint[] => {
  const position = 1 + below(origin.events.length)
  const step = origin.runs()[below(origin.runs().length)]
  return [
    { type: 'failed' },
    { type: 'position', position },
    ...(step === undefined ? [] : [fromStep(origin, step)]),
  ]
}

const checkFork = (origin: Simulation, point: ForkPoint, about: string): void => {
  const state = cutOut(origin.graph, origin.events, point)
  const { seed } = fitSeed(seedOf(state), origin.graph)
  const expected = JSON.stringify(essence(state))
  const unrouted = [...state.settled]
  const forked = createSimulation(origin.graph)
  forked.tell(
    started(origin.state().workload, { seed, origin: { executionId: '400', eventId: null, position: 0 } }),
  )
  const seeded = forked.events.findIndex((event) => event.eventType === 'playbook.seeded')
  expect(JSON.stringify(essence(fold(forked.events.slice(0, seeded + 1)))), `law 1, ${about}`).toBe(expected)
  expect(encodeState(forked.state()), `law 1, ${about}`).toBe(encodeState(fold(forked.events)))
  // Rows of cursors and conditions are random, too; what matters is that it comes to an end.
  for (let turns = 0; forked.status() === 'RUNNING'; turns += 1) {
    if (turns > 5000) throw new Error(`no end (law 2), ${about}`)
    const name = forked.open()[0]
    if (name === undefined) throw new Error(`running without a cause (law 2), ${about}`)
    forked.tell(completed(name, forked.command(name).isClaim ? [] : { ok: true }))
  }
  // A failure that was not routed yet is routed by the fork, as it would have been.
  const failures = forked
    .state()
    .failures.filter(({ step, error }) => !unrouted.includes(step) && !error.startsWith('No arc of step'))
  expect(failures, `law 2, ${about}`).toEqual([])
}
