/** Events of workers and other clients, in the spellings of every generation. */
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../contract/json.ts'
import { namedCommand } from './report.ts'
import { claimed, completed, report, reported, reportedOf, started } from './testing/inputs.ts'
import type { Happening } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation } from './testing/simulation.ts'
import { given } from './testing/specification.ts'

const chain = aPlaybook(`
  - {step: start, tool: {kind: noop}, next: b}
  - {step: b, tool: {kind: noop}}`)
const commandId = '500:start:1003'

/** The data and the verdict of `start` after these reports. */
const outcomeAfter = (
  ...happenings: readonly Happening[]
): { outcome: string | null | undefined; data: Json | undefined; error: string | undefined } => {
  const simulation = createSimulation(chain)
  simulation.tell(started())
  for (const happening of happenings) expect(simulation.tell(happening).reply.ok).toBe(true)
  const step = simulation.state().steps.get('start')
  return { outcome: step?.outcome, data: step?.data, error: step?.error?.message }
}

const ended = (
  context: JsonObject,
  eventType = 'command.completed',
  status: string | null = null,
): Happening => reportedOf('start', eventType, { context, status })

describe('where data is found', () => {
  it('in the envelope of the result', () => {
    expect(outcomeAfter(ended({ result: { status: 'success', context: { data: { n: 1 } } } }))).toMatchObject(
      { outcome: 'ok', data: { n: 1 } },
    )
    expect(outcomeAfter(ended({ result: { status: 'success', context: {} } }))).toMatchObject({
      outcome: 'ok',
      data: null,
    })
  })

  it('directly below result, response or data', () => {
    expect(outcomeAfter(ended({ result: { data: 1 } })).data).toBe(1)
    expect(outcomeAfter(ended({ result: { n: 1 } })).data).toEqual({ n: 1 })
    expect(outcomeAfter(ended({ result: 'text' })).data).toBe('text')
    expect(outcomeAfter(ended({ response: [1] })).data).toEqual([1])
    expect(outcomeAfter(ended({ data: { n: 2 } })).data).toEqual({ n: 2 })
  })

  it('in call.done, when the completion that follows has none', () => {
    const call = (context: JsonObject) => reportedOf('start', 'call.done', { context })
    const bare = ended({ command_id: commandId, status: 'success' })
    expect(outcomeAfter(call({ result: { status: 'success', context: { data: 5 } } }), bare)).toMatchObject({
      outcome: 'ok',
      data: 5,
    })
    expect(
      outcomeAfter(call({ command_id: commandId, call_index: 0, status: 'success', rows: [1] }), bare).data,
    ).toEqual({ rows: [1] })
    expect(outcomeAfter(call({ command_id: commandId }), bare).data).toBeNull()
    expect(outcomeAfter(call({ data: 1 }), ended({ data: 2 })).data).toBe(2)
    expect(outcomeAfter(reportedOf('start', 'call.done'), bare).data).toBeNull()
  })

  it('in call.error and command.failed, beside the error', () => {
    const error = { kind: 'sql', code: 42, message: 'no table', retryable: true, sqlstate: '42P01' }
    expect(
      outcomeAfter(
        reportedOf('start', 'call.error', { context: { error } }),
        ended({ error: 'short' }, 'command.failed'),
      ),
    ).toEqual({
      outcome: 'error',
      data: undefined,
      error: 'no table',
    })
    const simulation = createSimulation(chain)
    simulation.tell(started())
    simulation.tell(
      ended({ result: { status: 'error', context: { data: 'partial', error } } }, 'command.failed'),
    )
    expect(simulation.state().steps.get('start')).toMatchObject({
      data: 'partial',
      error: { ...error, code: '42' },
    })
  })
})

describe('how a command ended', () => {
  it('command.completed is an error only for the words of failure, in any case and place', () => {
    for (const word of ['error', 'FAILED', 'Failure', 'timeout', 'cancelled', 'canceled']) {
      expect(outcomeAfter(ended({ status: word })).outcome, word).toBe('error')
      expect(outcomeAfter(ended({ result: { status: word, context: {} } })).outcome, word).toBe('error')
      expect(outcomeAfter(ended({}, 'command.completed', word)).outcome, word).toBe('error')
    }
    for (const word of ['success', 'COMPLETED', 'ok', 'whatever'])
      expect(outcomeAfter(ended({ status: word })).outcome, word).toBe('ok')
    expect(outcomeAfter(ended({})).outcome).toBe('ok')
  })

  it('keeps some error for every failure', () => {
    expect(outcomeAfter(ended({ status: 'timeout' })).error).toBe('timeout')
    expect(outcomeAfter(ended({ error: 'why' }, 'command.failed')).error).toBe('why')
    expect(outcomeAfter(ended({ error: { code: 1 } }, 'command.failed')).error).toBe('command failed')
    expect(outcomeAfter(ended({}, 'command.failed')).error).toBe('command failed')
    expect(outcomeAfter(ended({}, 'command.cancelled')).outcome).toBe('error')
  })

  it('accepts the other spellings of the same events', () => {
    for (const type of ['action_completed', 'step_completed'])
      expect(outcomeAfter(ended({ data: 1 }, type))).toMatchObject({ outcome: 'ok', data: 1 })
    for (const type of ['action_failed', 'step_failed'])
      expect(outcomeAfter(ended({}, type)).outcome).toBe('error')
    expect(outcomeAfter(reportedOf('start', 'action_done', { context: { data: 3 } }), ended({})).data).toBe(3)
  })

  it('stores the event under the name and with the facts it came with', () => {
    const { turn } = given(chain, [started()]).when(
      reportedOf('start', 'action_completed', {
        eventId: '77',
        createdAt: '2025-05-05T00:00:00.000Z',
        durationMs: 12,
        status: 'success',
        context: { data: 1 },
        reference: { logical_uri: 's3://x' },
        meta: { attempt: 2 },
      }),
    )
    expect(turn.events[0]).toMatchObject({
      eventId: '77',
      eventType: 'action_completed',
      nodeName: 'start',
      createdAt: '2025-05-05T00:00:00.000Z',
      durationMs: 12,
      status: 'success',
      result: { status: 'success', context: { data: 1 }, reference: { logical_uri: 's3://x' } },
      meta: { attempt: 2, command_id: commandId },
    })
    expect(turn.reply).toEqual({ ok: true, eventId: '77', duplicate: false })
  })
})

describe('which command is meant', () => {
  const parallel = aPlaybook(`
  - {step: start, loop: {in: [1, 2], iterator: i, spec: {mode: parallel}}, tool: {kind: noop}}`)

  it('the only open one of the step, when the report names none', () => {
    given(chain, [started()])
      .when(reported('command.completed', { step: 'start', context: { data: 1 } }))
      .thenEvents('command.completed start', 'step.exit start -> b', 'step.enter b', 'command.issued b')
  })

  it('cannot be told among several', () => {
    given(parallel, [started()])
      .when(reported('command.completed', { step: 'start' }))
      .thenRefused('invalid', "Step 'start' has 2 open commands; name one with command_id")
  })

  it('none: acknowledged, nothing written (rule 3)', () => {
    given(chain, [started()])
      .when(reported('command.completed', { step: 'b' }))
      .thenNothing()
    given(chain, [started()])
      .when(reported('command.completed', { step: 'start', commandId: 'other' }))
      .thenNothing()
  })

  it('is read from wherever clients put it', () => {
    expect(namedCommand({ command_id: 'a' }, { command_id: 'b' })).toBe('a')
    expect(namedCommand({ data: { command_id: 'a' } }, { command_id: 'b' })).toBe('b')
    expect(namedCommand({ data: { command_id: 5 } }, {})).toBe('5')
    expect(namedCommand('text', {})).toBeNull()
    expect(namedCommand({ command_id: true }, {})).toBeNull()
  })
})

describe('repeats', () => {
  it('a second completion is acknowledged and writes nothing (rule 3)', () => {
    const again = reported('command.completed', {
      step: 'start',
      commandId,
      eventId: '9',
      context: { data: 'other' },
    })
    const { turn } = given(chain, [started(), completed('start', 1)])
      .when(again)
      .thenNothing()
    expect(turn.reply).toMatchObject({ eventId: '9' })
  })

  it('a late call.done, command.started or command.failed writes nothing either', () => {
    for (const type of [
      'call.done',
      'call.error',
      'command.started',
      'command.failed',
      'command.claimed',
      'command.cancelled',
    ]) {
      given(chain, [started(), completed('start')])
        .when(reported(type, { step: 'start', commandId }))
        .thenNothing()
    }
  })

  it('a report to a terminal execution is recorded and changes nothing (rule 4)', () => {
    const past = [started(), completed('start'), completed('b', 1)]
    const { turn, simulation } = given(chain, past).when(
      reported('command.completed', { step: 'b', commandId: '500:b:1007' }),
    )
    expect(turn.lines).toEqual(['command.completed b'])
    expect(simulation.status()).toBe('COMPLETED')
    expect(simulation.open()).toEqual([])
  })
})

describe('events that only the control plane may write', () => {
  const forged: readonly (readonly [string, JsonObject])[] = [
    ['step.enter', { items: [1, 2] }],
    ['step_started', {}],
    ['step.skipped', { reason: 'guard' }],
    ['step_skipped', { reason: 'upstream_failed' }],
    ['step.exit', { next: ['b'] }],
    ['ctx.updated', { values: { x: 1 } }],
    ['command.issued', { command_id: 'forged' }],
    ['command.released', { command_id: commandId }],
    ['playbook_started', { workload: { x: 1 } }],
    ['playbook.initialized', {}],
    ['something.else', {}],
  ]

  it('are stored when a client posts them, and change nothing (evolve rule 5)', () => {
    for (const [eventType, context] of forged) {
      const past = [started(), claimed('start', 'w', '1')]
      const before = createSimulation(chain)
      for (const each of past) before.tell(each)
      const forgery = reported(eventType, {
        step: 'start',
        commandId,
        context,
        meta: { emitted_by: 'orchestrator', entry: 'b' },
      })
      const { turn, simulation } = given(chain, past).when(forgery)
      expect(
        turn.events.map((event) => event.eventType),
        eventType,
      ).toEqual([eventType])
      expect({ ...simulation.state(), position: 0 }, eventType).toEqual({ ...before.state(), position: 0 })
    }
  })

  it('an execution goes on after them', () => {
    const { turn } = given(chain, [started(), reported('step_started', { step: 'start' })]).when(
      completed('start'),
    )
    expect(turn.lines).toContain('step.enter b')
  })
})

describe('terminal events that clients post', () => {
  it('end the execution in every spelling, and cancel its open commands', () => {
    for (const [type, status] of [
      ['playbook.completed', 'COMPLETED'],
      ['workflow_completed', 'COMPLETED'],
      ['playbook_failed', 'FAILED'],
      ['workflow.failed', 'FAILED'],
      ['playbook.cancelled', 'CANCELLED'],
      ['execution.cancelled', 'CANCELLED'],
      ['execution_cancelled', 'CANCELLED'],
    ] as const) {
      const { turn, simulation } = given(chain, [started()]).when(
        reported(type, { step: 'x', context: { error: 'by hand' } }),
      )
      expect(simulation.state()).toMatchObject({ status, error: 'by hand' })
      expect(turn.events).toMatchObject([{ eventType: type, nodeName: 'playbook' }])
      expect(turn.changes).toEqual([{ eventId: '1003', status: 'CANCELLED' }])
    }
  })

  it('the first one wins (evolve rule 3)', () => {
    const { simulation } = given(chain, [started(), reported('playbook.completed')]).when(
      reported('playbook.failed'),
    )
    expect(simulation.status()).toBe('COMPLETED')
  })
})

describe('the error column of a reported event', () => {
  it('is the text or the message of the error', () => {
    const errorOf = (context: Json): string | null | undefined =>
      given(chain, [started()]).when(reportedOf('start', 'command.failed', { context })).turn.events[0]?.error
    expect(errorOf({ error: 'text' })).toBe('text')
    expect(errorOf({ error: { message: 'inner' } })).toBe('inner')
    expect(errorOf({ error: 4 })).toBeNull()
    expect(errorOf('no mapping')).toBeNull()
  })

  it('a report may come without a step', () => {
    expect(report('x').step).toBe('')
  })
})
