/** The end of an execution: its result, the final step, cancel and finalize. */
import { describe, expect, it } from 'vitest'
import { cancelled, completed, failed, finalized, reportedOf, started } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation, runThrough } from './testing/simulation.ts'
import { given } from './testing/specification.ts'

const NOOP = 'tool: {kind: noop}'
const noop = (): null => null
const byName = (name: string): string => `data of ${name}`

describe('the result of an execution', () => {
  it('case 104: is the data of end, whatever completes after it', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: [end, slow]}
  - {step: end, ${NOOP}}
  - {step: slow, ${NOOP}}`)
    const { turn } = given(graph, [started(), completed('start', 1), completed('end', { n: 2 })]).when(
      completed('slow', 3),
    )
    expect(turn.events.at(-1)?.result).toEqual({ status: 'COMPLETED', context: { data: { n: 2 } } })
  })

  it('is the data of the step that completed last, when there is no end', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}}
  - {step: b, ${NOOP}}`)
    given(graph, [started(), completed('start'), completed('b', 'b')])
      .when(completed('a', 'a'))
      .thenEvents('command.completed a', 'step.exit a', 'playbook.completed "a"')
  })

  it('is not that of a step without a tool, which has none', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: end}
  - {step: end}`)
    expect(runThrough(graph, byName, started()).lines().at(-1)).toBe('playbook.completed "data of start"')
  })

  it('is not that of an end that failed', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: end}
  - {step: end, ${NOOP}, spec: {on_error: continue}}`)
    given(graph, [started(), completed('start', 1)])
      .when(failed('end', 'no', 'partial'))
      .thenEvents('command.failed end', 'step.exit end handled', 'playbook.completed 1')
  })

  it('of a pipeline has its labels and every key of its tasks', () => {
    const graph = aPlaybook(`
  - {step: start, tool: [{a: {kind: noop}}, {b: {kind: noop}}]}`)
    const { turn } = given(graph, [started()]).when(
      completed('start', { a: { x: 1, y: 1 }, b: { x: 2 }, _context_updates: { z: 1 } }),
    )
    expect(turn.events.at(-1)?.result?.context).toEqual({
      data: { x: 2, y: 1, a: { x: 1, y: 1 }, b: { x: 2 } },
    })
  })

  it('of a loop has results and statistics', () => {
    const graph = aPlaybook(`  - {step: start, loop: {in: [1, 2], iterator: i}, ${NOOP}}`)
    expect(runThrough(graph, byName, started()).events.at(-1)?.result?.context).toEqual({
      data: { results: ['data of start#0', 'data of start#1'], stats: { total: 2, success: 2, failed: 0 } },
    })
  })

  it('is there for a failed execution, too', () => {
    const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: b}
  - {step: b, ${NOOP}}`)
    const simulation = runThrough(graph, (name) => (name === 'b' ? new Error('no') : name), started())
    expect(simulation.events.at(-1)?.result?.context).toEqual({
      data: 'start',
      error: "Step 'b' failed: no",
      failed_steps: ['b'],
    })
  })
})

describe('the final step', () => {
  const graph = (finalStep: string) =>
    aPlaybook(
      `
  - {step: start, ${NOOP}, next: b}
  - {step: b, ${NOOP}}
  - ${finalStep}
  - {step: last, ${NOOP}}`,
      'executor: {spec: {final_step: report}}',
    )

  it('runs once when nothing else is left, and its branch is followed', () => {
    const simulation = runThrough(graph(`{step: report, ${NOOP}, next: last}`), noop, started())
    expect(simulation.runs()).toEqual(['start', 'b', 'report', 'last'])
    expect(simulation.status()).toBe('COMPLETED')
  })

  it('runs after a failure as well, which stays the verdict', () => {
    const simulation = runThrough(
      graph(`{step: report, ${NOOP}}`),
      (name) => (name === 'start' ? new Error('no') : null),
      started(),
    )
    expect(simulation.runs()).toEqual(['start', 'report'])
    expect(simulation.state().error).toBe("Step 'start' failed: no")
  })

  it('that fails makes the execution fail', () => {
    const simulation = runThrough(
      graph(`{step: report, ${NOOP}}`),
      (name) => (name === 'report' ? new Error('no') : null),
      started(),
    )
    expect(simulation.status()).toBe('FAILED')
  })

  it('whose guard is false is bypassed once', () => {
    const simulation = runThrough(
      graph(`{step: report, when: '{{ false }}', ${NOOP}, next: last}`),
      noop,
      started(),
    )
    expect(simulation.runs()).toEqual(['start', 'b', 'last'])
    expect(simulation.lines().filter((line) => line === 'step.skipped report (guard)')).toHaveLength(1)
    expect(simulation.status()).toBe('COMPLETED')
  })

  it('without a tool ends in the same turn', () => {
    expect(runThrough(graph('{step: report}'), noop, started()).runs()).toEqual(['start', 'b', 'report'])
  })

  it('whose template fails ends the execution', () => {
    const simulation = runThrough(graph(`{step: report, when: '{{ 1 / 0 }}', ${NOOP}}`), noop, started())
    expect(simulation.state().error).toMatch(/^Orchestrator evaluate failed: Step 'report': division by zero/)
  })
})

describe('cancel', () => {
  const graph = aPlaybook(`
  - {step: start, ${NOOP}, next: b}
  - {step: b, ${NOOP}}`)

  it('case 103: ends the execution and its open commands', () => {
    const { turn, simulation } = given(graph, [started()]).when(cancelled('not needed'))
    expect(turn.events).toMatchObject([
      {
        eventType: 'playbook_cancelled',
        nodeName: 'playbook',
        status: 'CANCELLED',
        error: 'not needed',
        meta: { reason: 'not needed' },
      },
    ])
    expect(turn.changes).toEqual([{ eventId: '1003', status: 'CANCELLED' }])
    expect(simulation.state()).toMatchObject({
      status: 'CANCELLED',
      error: 'not needed',
      finishedAt: turn.events[0]?.createdAt,
    })
    expect(simulation.open()).toEqual([])
  })

  it('case 103: what still arrives is recorded, and nothing follows', () => {
    const simulation = createSimulation(graph)
    simulation.tell(started())
    const late = reportedOf('start', 'command.completed')(simulation.state())
    simulation.tell(cancelled())
    expect(simulation.tell(() => late).lines).toEqual(['command.completed start'])
    expect(simulation.status()).toBe('CANCELLED')
  })

  it('case 103: a second one is refused, as is one after the end', () => {
    given(graph, [started(), cancelled()])
      .when(cancelled())
      .thenRefused('invalid', 'Cannot cancel execution in CANCELLED state')
    given(graph, [started(), completed('start'), completed('b')])
      .when(cancelled())
      .thenRefused('invalid', 'Cannot cancel execution in COMPLETED state')
  })
})

describe('finalize', () => {
  const graph = aPlaybook(`  - {step: start, ${NOOP}}`)

  it('writes the terminal event by hand', () => {
    const done = given(graph, [started()]).when(finalized('COMPLETED'))
    expect(done.turn.events).toMatchObject([
      { eventType: 'playbook_completed', status: 'COMPLETED', result: { status: 'COMPLETED', context: {} } },
    ])
    const broken = given(graph, [started()]).when(finalized('FAILED', 'given up'))
    expect(broken.turn.events).toMatchObject([
      { eventType: 'playbook_failed', error: 'given up', result: { context: { error: 'given up' } } },
    ])
    expect(broken.simulation.state()).toMatchObject({ status: 'FAILED', error: 'given up' })
    expect(broken.turn.changes).toEqual([{ eventId: '1003', status: 'CANCELLED' }])
  })

  it('of a terminal execution is refused', () => {
    given(graph, [started(), completed('start')])
      .when(finalized('FAILED'))
      .thenRefused('conflict', 'Execution 500 is already COMPLETED')
  })
})
