/** Claims, releases, fencing: who may speak for a command, and how often it may be lost. */
import { describe, expect, it } from 'vitest'
import {
  cancelled,
  claimed,
  completed,
  expired,
  failed,
  handedBack,
  reportedOf,
  started,
} from './testing/inputs.ts'
import type { Happening } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation } from './testing/simulation.ts'
import { given } from './testing/specification.ts'

const graph = aPlaybook(`
  - step: start
    tool: {kind: noop}
    next: {arcs: [{step: handler, when: "{{ error.code == 'LEASE_EXPIRED' }}"}]}
  - {step: handler, tool: {kind: noop}}`)

/** The command of `start`, fixed before it ends, for what comes too late. */
const commandId = '500:start:1003'
const claimOf =
  (workerId: string, leaseToken: string): Happening =>
  () => ({ type: 'claim', commandId, workerId, leaseToken })

describe('a claim', () => {
  it('makes the worker the holder', () => {
    const { simulation, turn } = given(graph, [started()])
      .when(claimed('start', 'w1', '11'))
      .thenEvents('command.claimed start by w1')
    expect(turn.events[0]).toMatchObject({
      status: 'RUNNING',
      workerId: 'w1',
      result: { status: 'RUNNING', context: { command_id: commandId, worker_id: 'w1' } },
      meta: { command_id: commandId, worker_id: 'w1', attempt: 1 },
    })
    expect(simulation.command('start')).toMatchObject({ workerId: 'w1', leaseToken: '11', attempt: 1 })
  })

  it('by the holder again, with the same token, writes nothing', () => {
    given(graph, [started(), claimed('start', 'w1', '11')])
      .when(claimed('start', 'w1', '11'))
      .thenNothing()
  })

  it('by another worker is refused (rule 1)', () => {
    given(graph, [started(), claimed('start', 'w1', '11')])
      .when(claimed('start', 'w2', '12'))
      .thenRefused('conflict', 'Command already claimed by w1')
  })

  it('by the holder with another token is refused (rule 1)', () => {
    given(graph, [started(), claimed('start', 'w1', '11')])
      .when(claimed('start', 'w1', '12'))
      .thenRefused('conflict', 'Command already claimed by w1')
  })

  it('of a command that ended is refused', () => {
    const simulation = createSimulation(graph)
    simulation.tell(started())
    expect(simulation.command('start').commandId).toBe(commandId)
    given(graph, [started(), completed('start')])
      .when(claimOf('w1', '11'))
      .thenRefused('already_terminal', 'Command already reached terminal state')
  })

  it('case 103: of a command whose execution was cancelled is refused', () => {
    given(graph, [started(), cancelled()])
      .when(claimOf('w1', '11'))
      .thenRefused('already_terminal', 'Execution has been cancelled')
  })
})

describe('a report', () => {
  const held = [started(), claimed('start', 'w1', '11')]
  const done = { context: { status: 'success' } }

  it('counts from the holder, proved by token, by name, or by neither (report rule 1)', () => {
    for (const proof of [
      { leaseToken: '11', workerId: 'w1' },
      { leaseToken: '11' },
      { workerId: 'w1' },
      {},
    ]) {
      const { turn } = given(graph, held).when(completed('start', 1, proof))
      expect(turn.lines[0]).toBe('command.completed start')
      expect(turn.changes).toEqual([{ eventId: '1003', status: 'COMPLETED' }])
    }
  })

  it('with another token than the current one is refused, and nothing is written (report rule 1)', () => {
    given(graph, held)
      .when(completed('start', 1, { leaseToken: '10', workerId: 'w1' }))
      .thenRefused('lease_lost', `The lease of command ${commandId} has passed to another worker`)
  })

  it('of another worker is refused (report rule 1)', () => {
    given(graph, held)
      .when(completed('start', 1, { workerId: 'w2' }))
      .thenRefused('lease_lost', `Command ${commandId} is held by w1`)
  })

  it('with a token is refused when the lease ended without another holder', () => {
    given(graph, [...held, expired('start')])
      .when(completed('start', 1, { leaseToken: '11', workerId: 'w1' }))
      .thenRefused('lease_lost', `The lease of command ${commandId} has passed to another worker`)
  })

  it('about a command nobody claimed claims it (report rule 2)', () => {
    const { turn } = given(graph, [started()])
      .when(completed('start', 1, { workerId: 'w9' }))
      .thenEvents(
        'command.claimed start by w9',
        'command.completed start',
        'step.exit start',
        'step.skipped handler (dead_path)',
        'playbook.completed 1',
      )
    expect(turn.changes).toEqual([
      { eventId: '1003', status: 'CLAIMED', workerId: 'w9' },
      { eventId: '1003', status: 'COMPLETED' },
    ])
  })

  it('without a name ends a command nobody claimed all the same', () => {
    const { turn } = given(graph, [started()]).when(reportedOf('start', 'command.completed', done))
    expect(turn.lines[0]).toBe('command.completed start')
  })

  it('command.claimed posted as an event takes the lease', () => {
    const { turn, simulation } = given(graph, [started()])
      .when(reportedOf('start', 'command.claimed', { workerId: 'w1' }))
      .thenEvents('command.claimed start by w1')
    expect(turn.changes).toEqual([{ eventId: '1003', status: 'CLAIMED', workerId: 'w1' }])
    expect(simulation.command('start')).toMatchObject({ workerId: 'w1', attempt: 1 })
  })

  it('command.claimed posted again writes nothing; posted by another worker it is refused', () => {
    given(graph, held)
      .when(reportedOf('start', 'command.claimed', { workerId: 'w1' }))
      .thenNothing()
    given(graph, held)
      .when(reportedOf('start', 'command.claimed', { workerId: 'w2' }))
      .thenRefused('conflict', 'Command already claimed by w1')
  })

  it('command.started is recorded and changes nothing', () => {
    const { turn } = given(graph, held)
      .when(reportedOf('start', 'command.started', { workerId: 'w1' }))
      .thenEvents('command.started start')
    expect(turn.events[0]?.status).toBe('RUNNING')
  })
})

describe('a lease that ends without a report', () => {
  const lost = (attempt: number): readonly Happening[] => [
    claimed('start', `w${attempt}`, `${attempt}`),
    expired('start', `${attempt}`),
  ]

  it('makes the command wait again (rule 2)', () => {
    const { turn, simulation } = given(graph, [started(), claimed('start', 'w1', '1')])
      .when(expired('start', '1'))
      .thenEvents('command.released start')
    expect(turn.changes).toEqual([{ eventId: '1003', status: 'PENDING' }])
    expect(turn.events[0]?.meta).toMatchObject({ reason: 'lease_expired', attempt: 1, worker_id: 'w1' })
    expect(simulation.command('start')).toMatchObject({ workerId: null, leaseToken: null, attempt: 1 })
  })

  it('may be claimed by another worker, whose report counts', () => {
    const { turn } = given(graph, [started(), ...lost(1), claimed('start', 'w2', '2')]).when(
      completed('start', 1, { leaseToken: '2', workerId: 'w2' }),
    )
    expect(turn.lines[0]).toBe('command.completed start')
  })

  it('fails the command after its last attempt, and the playbook may route that (rule 2)', () => {
    const { turn, simulation } = given(graph, [
      started(),
      ...lost(1),
      ...lost(2),
      claimed('start', 'w3', '3'),
    ])
      .when(expired('start', '3'))
      .thenEvents(
        'command.failed start',
        'step.exit start handled -> handler',
        'step.enter handler',
        'command.issued handler',
      )
    expect(turn.changes).toEqual([{ eventId: '1003', status: 'FAILED' }])
    expect(turn.events[0]?.error).toBe('Worker w3 stopped answering; given up after 3 attempts')
    expect(simulation.state().steps.get('start')?.error).toEqual({
      kind: 'worker_lost',
      code: 'LEASE_EXPIRED',
      message: 'Worker w3 stopped answering; given up after 3 attempts',
      retryable: true,
    })
  })

  it('fails an iteration like any other command, and the loop goes on if it may', () => {
    const loop = aPlaybook(`
  - {step: start, loop: {in: [1, 2], iterator: i, spec: {on_error: continue}}, tool: {kind: noop}}`)
    const past = [
      started(),
      ...[1, 2, 3].flatMap((n) => [claimed('start#0', 'w', `${n}`), ...(n < 3 ? [expired('start#0')] : [])]),
    ]
    given(loop, past).when(expired('start#0')).thenEvents('command.failed start', 'command.issued start#1')
  })

  it('handed back does not use up an attempt', () => {
    const backs = [1, 2, 3, 4].flatMap((n) => [claimed('start', 'w', `${n}`), handedBack('start', `${n}`)])
    const { simulation } = given(graph, [started(), ...backs, claimed('start', 'w', '9')])
      .when(handedBack('start', '9'))
      .thenEvents('command.released start')
    expect(simulation.command('start').attempt).toBe(0)
  })

  it('handed back by nobody does not count below zero', () => {
    const { simulation } = given(graph, [started()])
      .when(handedBack('start'))
      .thenEvents('command.released start')
    expect(simulation.command('start').attempt).toBe(0)
  })

  it('is not released by a token of the past', () => {
    given(graph, [started(), ...lost(1), claimed('start', 'w2', '2')])
      .when(expired('start', '1'))
      .thenRefused('lease_lost', `Command ${commandId} is not held with this lease any more`)
  })

  it('is not released by who found an earlier one run out and says so late (rule 4)', () => {
    const expiredBefore =
      (before: string): Happening =>
      () => ({ type: 'release', commandId, leaseToken: null, before, reason: 'lease_expired' })
    // The lease 1 was taken over with the token 2, given back, and given anew with 3.
    given(graph, [started(), ...lost(1), claimed('start', 'w2', '3')])
      .when(expiredBefore('2'))
      .thenRefused('lease_lost', `Command ${commandId} is not held with this lease any more`)
    given(graph, [started(), ...lost(1), claimed('start', 'w2', '3')])
      .when(expiredBefore('4'))
      .thenEvents('command.released start')
    // A lease that was never recorded ran out.
    given(graph, [started()]).when(expiredBefore('2')).thenEvents('command.released start')
  })

  it('is nothing to release once the command ended', () => {
    given(graph, [started(), failed('start')])
      .when(() => ({ type: 'release', commandId, leaseToken: null, reason: 'lease_expired' }))
      .thenRefused('already_terminal', 'Command already reached terminal state')
  })

  it('forgets what its holder had reported so far', () => {
    const early = reportedOf('start', 'call.done', {
      workerId: 'w1',
      context: { result: { context: { data: 'old' } } },
    })
    const { simulation } = given(graph, [
      started(),
      claimed('start', 'w1', '1'),
      early,
      expired('start'),
    ]).when(reportedOf('start', 'command.completed', { context: { status: 'success' } }))
    expect(simulation.lines().at(-1)).toBe('playbook.completed null')
  })
})
