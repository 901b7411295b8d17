/** An execution beside its rerun, and beside itself retried. Numbers are those of the header of diff-summary.ts. */
import { describe, expect, it } from 'vitest'
import type { EventRecord } from '../contract/event.ts'
import type { ForkPoint } from '../engine/fork.ts'
import { createForkFold, seedOf } from '../engine/fork.ts'
import type { Graph } from '../engine/graph.ts'
import type { Happening } from '../engine/testing/inputs.ts'
import { cancelled, completed, failed, started } from '../engine/testing/inputs.ts'
import { aPlaybook } from '../engine/testing/playbook.ts'
import { createSimulation, EXECUTION_ID } from '../engine/testing/simulation.ts'
import { diffLogs } from './diff.ts'
import { createLogReader } from './diff-summary.ts'

const NOOP = 'tool: {kind: noop}'

const logOf = (graph: Graph, past: readonly Happening[]): readonly EventRecord[] => {
  const simulation = createSimulation(graph)
  for (const each of past) simulation.tell(each)
  return simulation.events
}

const summaryOf = (events: readonly EventRecord[], executionId: string) => {
  const reader = createLogReader(executionId)
  for (const event of events) reader.add(event)
  return reader.summary()
}

const forkedAt = (graph: Graph, origin: readonly EventRecord[], point: ForkPoint): Happening => {
  const fold = createForkFold(graph, EXECUTION_ID, point)
  for (const event of origin) fold.add(event)
  return started(
    {},
    { seed: seedOf(fold.finish()), origin: { executionId: 'origin', eventId: null, position: 0 } },
  )
}

/** One line for each step run, marked when it differs. */
const linesOf = (a: readonly EventRecord[], b: readonly EventRecord[]): readonly string[] =>
  diffLogs(summaryOf(a, 'origin'), summaryOf(b, 'rerun'), Date.parse).steps.map(
    ({ step, run, a: left, b: right, differs }) =>
      `${step} ${run}: ${left?.word ?? 'nothing'}, ${right?.word ?? 'nothing'}${differs.length > 0 ? ` (${differs.join(', ')})` : ''}`,
  )

const retried: Happening = () => ({ type: 'reopen', steps: null, variables: {}, reason: null })

const each = aPlaybook(`
  - {step: start, ${NOOP}, next: each}
  - {step: each, loop: {in: [1, 2], iterator: item}, ${NOOP}, next: after}
  - {step: after, ${NOOP}}`)
const broken = [started(), completed('start', 'kept'), completed('each#0', 10), failed('each#1', 'no')]
const mended = [...broken, retried, completed('each#1', 20), completed('after', 'end')]

describe('a rerun beside its origin', () => {
  it('has the result of a loop that it kept (3)', () => {
    const origin = logOf(each, [
      started(),
      completed('start', 'kept'),
      completed('each#0', 10),
      completed('each#1', 20),
      failed('after', 'no'),
    ])
    const rerun = logOf(each, [forkedAt(each, origin, { type: 'failed' }), completed('after', 'end')])
    expect(linesOf(origin, rerun)).toEqual([
      'start 1: completed, kept',
      'each 1: completed, kept',
      'after 1: failed, completed (outcome, result)',
    ])
  })

  it('shows a loop that it went on with as one run, and a step that is no longer skipped as run (3, 4)', () => {
    const origin = logOf(each, broken)
    const rerun = logOf(each, [
      forkedAt(each, origin, { type: 'failed' }),
      completed('each#1', 20),
      completed('after', 'end'),
    ])
    expect(linesOf(origin, rerun)).toEqual([
      'start 1: completed, kept',
      'each 1: failed, completed (outcome, result, routing)',
      'after 1: skipped, completed (outcome)',
    ])
  })

  it('numbers the runs of a cycle as its origin does and asks for none before what it kept (3)', () => {
    const cycle = aPlaybook(`
  - {step: start, ${NOOP}, next: work}
  - {step: work, ${NOOP}, next: check}
  - {step: check, ${NOOP}, next: {arcs: [{step: work, when: '{{ check < 2 }}'}, {step: done}]}}
  - {step: done, ${NOOP}}`)
    const origin = logOf(cycle, [
      started(),
      completed('start', 0),
      completed('work', 1),
      completed('check', 1),
      failed('work', 'no', { printed: 'a word' }),
    ])
    const rerun = logOf(cycle, [
      forkedAt(cycle, origin, { type: 'failed' }),
      completed('work', 2),
      completed('check', 2),
      completed('done', 0),
    ])
    expect(linesOf(origin, rerun)).toEqual([
      'start 1: completed, kept',
      'check 1: completed, kept',
      'work 2: failed, completed (outcome, result, routing)',
      'done 1: skipped, completed (outcome)',
      'check 2: nothing, completed (path)',
    ])
  })
})

describe('a retried execution', () => {
  it('has stopped what ran when it was cancelled', () => {
    const { runs } = summaryOf(
      logOf(each, [started(), cancelled(), retried, completed('start', 1), cancelled()]),
      'origin',
    )
    expect(runs.map(({ step, run, word }) => [step, run, word])).toEqual([
      ['start', 1, 'stopped'],
      ['start', 2, 'completed'],
      ['each', 1, 'stopped'],
    ])
  })

  it('has a further run of a loop that went on, with all of its results (4)', () => {
    const { runs } = summaryOf(logOf(each, mended), 'origin')
    expect(runs.map(({ step, run, word, data }) => [step, run, word, data])).toEqual([
      ['start', 1, 'completed', 'kept'],
      ['each', 1, 'failed', expect.anything()],
      ['each', 2, 'completed', [10, 20]],
      ['after', 1, 'completed', 'end'],
    ])
  })
})
