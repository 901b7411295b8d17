/** The timers that make a cancel reach those below, whichever server dies. Numbers are rules of `cancel.ts`. */
import { describe, expect, it } from 'vitest'
import type { Happening } from './testing/inputs.ts'
import { cancelled, completed, started } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { given } from './testing/specification.ts'

const graph = aPlaybook(`  - {step: start, tool: {kind: noop}}`)
const cancelledWith =
  (cascade: boolean): Happening =>
  () => ({ type: 'cancel', reason: 'enough', cascade })

describe('a cancel', () => {
  it('that cascades leaves a timer that names its event (1)', () => {
    const { turn } = given(graph, [started()])
      .when(cancelledWith(true))
      .thenEvents('playbook_cancelled enough')
    const [event] = turn.events
    expect(turn.timers).toEqual([
      {
        timerId: expect.stringMatching(/^\d+$/),
        kind: 'cancel_children',
        delayMs: 5000,
        payload: { event_id: event?.eventId },
      },
    ])
    expect(event?.meta).toEqual({ emitted_by: 'control_plane', reason: 'enough' })
  })

  it('that does not cascade says so and leaves none', () => {
    const { turn } = given(graph, [started()]).when(cancelledWith(false))
    expect(turn.timers).toEqual([])
    expect(turn.events[0]?.meta).toEqual({ emitted_by: 'control_plane', reason: 'enough', cascade: false })
  })

  it('as part of a cascade leaves none: the one above has it', () => {
    const { turn } = given(graph, [started()]).when(cancelled('enough'))
    expect(turn.timers).toEqual([])
    expect(turn.events[0]?.meta).toEqual({ emitted_by: 'control_plane', reason: 'enough' })
  })

  it('that is refused leaves none', () => {
    expect(given(graph, [started(), completed('start')]).when(cancelledWith(true)).turn.timers).toEqual([])
  })
})

describe('a start', () => {
  it('with a parent leaves a timer to look at it (2)', () => {
    expect(given(graph).when(started({}, { parentExecutionId: '400' })).turn.timers).toEqual([
      {
        timerId: expect.stringMatching(/^\d+$/),
        kind: 'follow_parent',
        delayMs: 5000,
        payload: { parent_execution_id: '400' },
      },
    ])
  })

  it('without one leaves none', () => {
    expect(given(graph).when(started()).turn.timers).toEqual([])
  })
})
