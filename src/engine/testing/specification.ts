/**
 * Given past events, when something happens, then these events follow.
 *
 * 1. The past is a log: what happened is decided once to get its events, then the state is folded from them.
 * 2. Whatever follows, the state after the turn is the fold of the whole log.
 */
import type { ProblemCode } from '../../contract/problem.ts'
import type { Graph } from '../graph.ts'
import type { Happening } from './inputs.ts'
import type { Simulation, SimulationOptions, Turn } from './simulation.ts'
import { createSimulation, isFoldOf } from './simulation.ts'

export interface Given {
  when(happening: Happening): When
}

export interface When {
  readonly turn: Turn
  readonly simulation: Simulation
  /** All events of the turn, in order, each as `describeEvent` writes it. */
  thenEvents(...lines: readonly string[]): When
  /** Acknowledged, but nothing is written. */
  thenNothing(): When
  thenRefused(code: ProblemCode, message: string): When
}

export const given = (
  graph: Graph,
  past: readonly Happening[] = [],
  options: SimulationOptions = {},
): Given => ({
  when: (happening) => {
    const before = createSimulation(graph, options)
    for (const each of past) before.tell(each)
    const simulation = createSimulation(graph, { ...options, past: before.events, ticks: before.ticks() })
    const turn = simulation.tell(happening)
    if (!isFoldOf(simulation.state(), simulation.events)) {
      throw new Error('the state after the turn is not the fold of its log')
    }
    return outcomeOf(turn, simulation)
  },
})

const outcomeOf = (turn: Turn, simulation: Simulation): When => {
  const when: When = {
    turn,
    simulation,
    thenEvents: (...lines) => {
      if (!turn.reply.ok) return mismatch('accepted', turn.reply)
      return sameLines(turn.lines, lines) ? when : mismatch(lines, turn.lines)
    },
    thenNothing: () => {
      const { reply } = turn
      return reply.ok && reply.duplicate && turn.events.length === 0
        ? when
        : mismatch('nothing', { reply, lines: turn.lines })
    },
    thenRefused: (code, message) => {
      const expected = { ok: false, problem: { code, message } }
      return JSON.stringify(turn.reply) === JSON.stringify(expected) ? when : mismatch(expected, turn.reply)
    },
  }
  return when
}

const sameLines = (actual: readonly string[], expected: readonly string[]): boolean =>
  actual.length === expected.length && actual.every((line, index) => line === expected[index])

/** The test runner shows the difference of `expected` and `actual`. */
const mismatch = (expected: unknown, actual: unknown): never => {
  const text = (value: unknown): string => (Array.isArray(value) ? value.join('\n  ') : JSON.stringify(value))
  const error = new Error(`expected\n  ${text(expected)}\nbut got\n  ${text(actual)}`)
  throw Object.assign(error, { expected, actual, showDiff: true })
}
