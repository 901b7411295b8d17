/**
 * Workers at their worst: they answer in any order, fail, claim and lose leases, repeat themselves, speak with
 * stale tokens, split an answer into call.done and command.completed.
 */
import type { Json } from '../../contract/json.ts'
import type { CommandState, State } from '../state.ts'
import type { Happening } from './inputs.ts'
import {
  claimed,
  completed,
  errorOf,
  expired,
  failed,
  handedBack,
  nameOf,
  report,
  reportedOf,
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

  const answer = (name: string, { leaseToken, workerId }: CommandState): Happening => {
    const proof = leaseToken === null ? {} : { leaseToken, workerId }
    const happening = random.chance(failureRate)
      ? failed(name, 'random failure')
      : completed(name, randomData(random), proof)
    return (state) => {
      const input = happening(state)
      sent.push(() => input)
      return input
    }
  }

  const holderActs = (name: string, command: CommandState): readonly Happening[] =>
    command.workerId === null
      ? [claimed(name, random.pick(['w1', 'w2']), String((tokens += 1)))]
      : [
          expired(name, command.leaseToken),
          handedBack(name, command.leaseToken),
          reportedOf(name, 'command.started', { workerId: command.workerId }),
          reportedOf(name, 'call.done', {
            context: { result: { status: 'success', context: { data: randomData(random) } } },
          }),
        ]

  const idleActs = (name: string, command: CommandState): readonly Happening[] => [
    ...(sent.length > 0 ? [random.pick(sent)] : []),
    () => report('command.completed', { step: command.step, commandId: `${command.commandId}-unknown` }),
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
      return { happening: answer(name, command), expects: 'something' }
    },
  }
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
