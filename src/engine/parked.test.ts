/** Commands that their worker let go of while the work goes on elsewhere. */
import { describe, expect, it } from 'vitest'
import {
  called,
  cancelled,
  claimed,
  completed,
  errorOf,
  expired,
  failed,
  handedBack,
  parked,
  report,
  reportedOf,
  started,
  timedOut,
} from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation } from './testing/simulation.ts'
import { given } from './testing/specification.ts'

const NOOP = 'tool: {kind: noop}'
const graph = aPlaybook(`
  - {step: start, tool: {kind: container}, next: {arcs: [{step: b, when: "{{ event.name != 'none' }}"}]}}
  - {step: b, tool: {kind: noop, input: {got: '{{ start }}'}}}`)

const BY_W1 = { workerId: 'w1', leaseToken: '1' }
const held = [started(), claimed('start', 'w1', '1')]
const atRest = [...held, parked('start', null, BY_W1)]

describe('parking', () => {
  it('case 113: ends the lease and nothing else', () => {
    const { turn, simulation } = given(graph, held)
      .when(parked('start', null, BY_W1))
      .thenEvents('command.completed start')
    expect(turn.changes).toEqual([{ eventId: simulation.command('start').eventId, status: 'PARKED' }])
    expect(turn.timers).toEqual([])
    expect(simulation.command('start')).toMatchObject({ parked: true, workerId: null, leaseToken: null })
    expect(simulation.status()).toBe('RUNNING')
    expect([...simulation.state().running]).toEqual(['start'])
  })

  it('sets a timer when the wait has a limit', () => {
    const { turn, simulation } = given(graph, held).when(parked('start', 90_000, BY_W1))
    const { commandId } = simulation.command('start')
    expect(turn.timers).toEqual([
      {
        timerId: expect.stringMatching(/^\d+$/),
        kind: 'command_timeout',
        delayMs: 90_000,
        payload: { command_id: commandId, timeout_ms: 90_000 },
      },
    ])
  })

  it('by a worker that never claimed claims the command first (report rule 2)', () => {
    const { simulation } = given(graph, [started()])
      .when(parked('start', null, { workerId: 'w1' }))
      .thenEvents('command.claimed start by w1', 'command.completed start')
    expect(simulation.command('start')).toMatchObject({ parked: true, workerId: null })
  })

  it('again is acknowledged and writes nothing', () => {
    given(graph, atRest).when(parked('start')).thenNothing()
    given(graph, atRest)
      .when(parked('start', null, { workerId: 'w1' }))
      .thenNothing()
  })

  it('again with the token of its lease is answered as a lost lease', () => {
    const { simulation, turn } = given(graph, atRest).when(parked('start', null, BY_W1))
    expect(turn.reply).toMatchObject({ ok: false, problem: { code: 'lease_lost' } })
    expect(simulation.command('start').parked).toBe(true)
  })

  it('holds up a join like any running step', () => {
    const join = aPlaybook(`
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}, next: join}
  - {step: b, ${NOOP}, next: join}
  - {step: join, ${NOOP}}`)
    const past = [started(), completed('start'), parked('a')]
    given(join, past).when(completed('b')).thenEvents('command.completed b', 'step.exit b -> join')
    given(join, [...past, completed('b')])
      .when(called('a'))
      .thenEvents('call.done a', 'step.exit a -> join', 'step.enter join', 'command.issued join')
  })
})

describe('a parked command is held by nobody', () => {
  it('and cannot be claimed (lease rule 3)', () => {
    const { simulation, turn } = given(graph, atRest).when(claimed('start', 'w2', '2'))
    const message = `Command ${simulation.command('start').commandId} is parked; it waits for an answer from outside`
    expect(turn.reply).toEqual({ ok: false, problem: { code: 'conflict', message } })
    given(graph, atRest)
      .when(reportedOf('start', 'command.claimed', { workerId: 'w2' }))
      .thenRefused('conflict', message)
  })

  it.each([expired('start'), handedBack('start'), expired('start', '1')])(
    'and a lease that runs out late does not run it again (lease rule 3)',
    (release) => {
      const { turn, simulation } = given(graph, atRest).when(release)
      expect(turn.reply).toMatchObject({ ok: false, problem: { code: 'lease_lost' } })
      expect(turn.changes).toEqual([])
      expect(simulation.command('start').parked).toBe(true)
    },
  )

  it('and a remark about it claims nothing (report rule 5)', () => {
    const { turn, simulation } = given(graph, atRest)
      .when(reportedOf('start', 'command.started', { workerId: 'w2' }))
      .thenEvents('command.started start')
    expect(turn.changes).toEqual([])
    expect(simulation.command('start')).toMatchObject({ parked: true, workerId: null })
  })
})

describe('its end', () => {
  it('case 113: comes with call.done, and the step goes on from there', () => {
    const { turn, simulation } = given(graph, atRest)
      .when(called('start', { exit: 0 }))
      .thenEvents('call.done start', 'step.exit start -> b', 'step.enter b', 'command.issued b')
    expect(turn.changes).toEqual([{ eventId: expect.any(String), status: 'COMPLETED' }])
    expect(simulation.issued('b').context).toMatchObject({ args: { got: { exit: 0 } } })
  })

  it('may come from any worker, without a claim (report rule 5)', () => {
    given(graph, atRest)
      .when(called('start', 1, { workerId: 'w7' }))
      .thenEvents('call.done start', 'step.exit start -> b', 'step.enter b', 'command.issued b')
  })

  it('takes its data from wherever the caller put it, exports included', () => {
    const { simulation } = given(graph, atRest)
      .when(
        reportedOf('start', 'call.done', {
          context: { call_index: 1, answer: 42, _context_updates: { 'ctx.x': 1 } },
        }),
      )
      .thenEvents(
        'call.done start',
        'ctx.updated start export {"x":1}',
        'step.exit start -> b',
        'step.enter b',
        'command.issued b',
      )
    expect(simulation.state().steps.get('start')?.data).toMatchObject({ answer: 42 })
  })

  it.each([
    ['call.error', reportedOf('start', 'call.error', { context: { error: { ...errorOf('exit 1') } } })],
    ['command.failed', failed('start', 'exit 1')],
    [
      'an unsuccessful call.done',
      reportedOf('start', 'call.done', {
        context: { result: { status: 'error', context: { error: { ...errorOf('exit 1') } } } },
      }),
    ],
  ])('by %s fails the step', (_name, happening) => {
    const { turn, simulation } = given(graph, atRest).when(happening)
    expect(turn.changes[0]).toMatchObject({ status: 'FAILED' })
    expect(simulation.state().steps.get('start')).toMatchObject({
      outcome: 'error',
      error: { message: 'exit 1' },
    })
    expect(simulation.open()).toEqual(['b'])
  })

  it('comes at last with a command.completed that is not pending', () => {
    given(graph, atRest)
      .when(completed('start', 'done'))
      .thenEvents('command.completed start', 'step.exit start -> b', 'step.enter b', 'command.issued b')
  })

  it('comes once: a second callback writes nothing', () => {
    const simulation = createSimulation(graph)
    for (const happening of atRest) simulation.tell(happening)
    const { commandId } = simulation.command('start')
    simulation.tell(called('start', 1))
    const late = report('call.done', { step: 'start', commandId, context: { data: 2 } })
    expect(simulation.tell(() => late)).toMatchObject({ reply: { ok: true, duplicate: true }, events: [] })
  })

  it('told before the parking is not waited for again (report rule 5)', () => {
    const early = [...held, called('start', { exit: 0 })]
    const { turn, simulation } = given(graph, early)
      .when(parked('start', 1000, BY_W1))
      .thenEvents('command.completed start', 'step.exit start -> b', 'step.enter b', 'command.issued b')
    expect(turn.changes).toEqual([{ eventId: expect.any(String), status: 'COMPLETED' }])
    expect(turn.timers).toEqual([])
    expect(simulation.state().steps.get('start')?.data).toEqual({ exit: 0 })
  })

  it('told before the parking may be a failure', () => {
    const error = { ...errorOf('exit 2') }
    const early = [...held, reportedOf('start', 'call.error', { context: { error } })]
    const { turn, simulation } = given(graph, early).when(parked('start', null, BY_W1))
    expect(turn.changes[0]).toMatchObject({ status: 'FAILED' })
    expect(simulation.state().steps.get('start')).toMatchObject({ outcome: 'error', error })
  })

  it('is the end of its time when nothing else comes', () => {
    const { turn, simulation } = given(graph, [...held, parked('start', 5000, BY_W1)])
      .when(timedOut('start', 5000))
      .thenEvents('command.failed start', 'step.exit start handled -> b', 'step.enter b', 'command.issued b')
    expect(turn.changes).toEqual([{ eventId: expect.any(String), status: 'FAILED' }])
    expect(simulation.state().steps.get('start')?.error).toEqual({
      kind: 'timeout',
      code: 'TIMEOUT',
      message: 'No answer within 5 s',
      retryable: true,
    })
  })

  it('is the end of the execution when that is cancelled', () => {
    const simulation = createSimulation(graph)
    for (const happening of atRest) simulation.tell(happening)
    const { eventId, commandId } = simulation.command('start')
    expect(simulation.tell(cancelled()).changes).toEqual([{ eventId, status: 'CANCELLED' }])
    const late = simulation.tell(() =>
      report('call.done', { step: 'start', commandId, context: { data: 1 } }),
    )
    expect(late.lines).toEqual(['call.done start'])
    expect(simulation.status()).toBe('CANCELLED')
  })
})
