/**
 * Workers at their worst: they answer in any order, fail, claim and lose leases, repeat themselves, speak with
 * stale tokens, split an answer into call.done and command.completed, let go of commands that a callback, a child or
 * the clock ends later. Cursors run dry sooner or later.
 */
import type { Json } from '../../contract/json.ts'
import type { CommandState, State } from '../state.ts'
import type { ReportInput } from '../input.ts'
import type { Happening } from './inputs.ts'
import {
  called,
  childEnded,
  claimed,
  completed,
  errorOf,
  expired,
  failed,
  handedBack,
  nameOf,
  parked,
  report,
  reportedOf,
  timedOut,
} from './inputs.ts'
import type { Random } from './random.ts'

export interface Act {
  readonly happening: Happening
  /** What the engine must make of it. `nothing`: acknowledged or refused, and no event written. */
  readonly expects: 'something' | 'nothing'
}

export interface RandomWorker {
  act(state: State): Act
}

export const createRandomWorker = (random: Random, failureRate: number): RandomWorker => {
  /** Reports that ended a command, to be sent again. */
  const sent: Happening[] = []
  let tokens = 100

  const remembered =
    (happening: Happening): Happening =>
    (state) => {
      const input = happening(state)
      sent.push(() => input)
      return input
    }

  const proofOf = ({ leaseToken, workerId }: CommandState): Partial<ReportInput> =>
    leaseToken === null ? {} : { leaseToken, workerId }

  const dataFor = ({ isClaim }: CommandState): Json => (isClaim ? randomRows(random) : randomData(random))

  const answer = (name: string, command: CommandState): Happening =>
    remembered(
      random.chance(failureRate)
        ? failed(name, 'random failure')
        : completed(name, dataFor(command), proofOf(command)),
    )

  /** What ends a command from outside; the clock only one that is parked. */
  const outsideActs = (name: string, command: CommandState): readonly Happening[] => {
    if (!command.parked) return [childEnded(name, { data: dataFor(command) })]
    const [status, error] = random.chance(failureRate)
      ? (['FAILED', 'random'] as const)
      : (['COMPLETED', null] as const)
    return [
      called(name, dataFor(command)),
      called(name, dataFor(command), { workerId: 'w9' }),
      childEnded(name, { data: dataFor(command), status, error }),
      ...(random.chance(failureRate) ? [timedOut(name), reportedOf(name, 'call.error')] : []),
    ]
  }

  const holderActs = (name: string, command: CommandState): readonly Happening[] => {
    if (command.parked) return [reportedOf(name, 'command.started', { workerId: 'w8' })]
    return command.workerId === null
      ? [
          claimed(name, random.pick(['w1', 'w2']), String((tokens += 1))),
          parked(name, random.pick([null, 10])),
        ]
      : [
          parked(name, random.pick([null, 10]), proofOf(command)),
          expired(name, command.leaseToken),
          handedBack(name, command.leaseToken),
          reportedOf(name, 'command.started', { workerId: command.workerId }),
          reportedOf(name, 'call.done', {
            context: { result: { status: 'success', context: { data: dataFor(command) } } },
          }),
        ]
  }

  const idleActs = (name: string, command: CommandState): readonly Happening[] => [
    ...(sent.length > 0 ? [random.pick(sent)] : []),
    () => report('command.completed', { step: command.step, commandId: `${command.commandId}-unknown` }),
    ...(command.parked
      ? [
          parked(name),
          claimed(name, 'w3', '2'),
          expired(name),
          handedBack(name),
          reportedOf(name, 'command.claimed', { workerId: 'w3' }),
        ]
      : [timedOut(name)]),
    ...(command.workerId === null
      ? []
      : [
          completed(name, 'stale', { leaseToken: '1' }),
          completed(name, 'other', { workerId: 'w3' }),
          claimed(name, 'w3', '2'),
          claimed(name, command.workerId, command.leaseToken ?? ''),
        ]),
  ]

  return {
    act: (state) => {
      const command = random.pick([...state.commands.values()])
      // Names find the oldest command of that name; a command is open once, so they are exact.
      const name = nameOf(command)
      if (random.chance(0.15)) return { happening: random.pick(idleActs(name, command)), expects: 'nothing' }
      if (random.chance(0.25))
        return { happening: random.pick(holderActs(name, command)), expects: 'something' }
      if (random.chance(command.parked ? 0.7 : 0.05))
        return { happening: remembered(random.pick(outsideActs(name, command))), expects: 'something' }
      return { happening: answer(name, command), expects: 'something' }
    },
  }
}

/** Half of the time none: a cursor that never runs dry would never end. */
const randomRows = (random: Random): Json => {
  const rows = Array.from({ length: random.chance(0.5) ? 0 : 1 + random.below(3) }, (_, id) => ({ id }))
  return random.chance(0.5) ? rows : { rows }
}

const randomData = (random: Random): Json =>
  random.pick<Json>([
    null,
    'text',
    [1, 2],
    { ok: random.chance(0.5), n: random.below(4) },
    { ok: true, n: 3, error: { ...errorOf('only data') } },
    { ok: false, _context_updates: { 'ctx.exported.deep': random.below(9), f1: random.chance(0.5) } },
  ])
