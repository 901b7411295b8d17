/**
 * A recorded execution: what happened, turn by turn, and what the engine made of it. Kept as files, histories show
 * when a change gives old logs another meaning.
 */
import type { EventRecord } from '../../contract/event.ts'
import { decide } from '../decide.ts'
import type { Graph } from '../graph.ts'
import type { Input, Reply } from '../input.ts'
import { createSession } from '../session.ts'
import type { Ticks } from './environment.ts'
import { createTestClock } from './environment.ts'
import type { Happening } from './inputs.ts'
import { graphOf } from './playbook.ts'
import { createSimulation, fold } from './simulation.ts'

export interface History {
  readonly title: string
  readonly playbook: string
  readonly turns: readonly HistoryTurn[]
}

export interface HistoryTurn {
  readonly input: Input
  /** Counters of the environment before the turn. */
  readonly ticks: Ticks
  readonly reply: Reply
  readonly events: readonly EventRecord[]
}

export const recordHistory = (title: string, playbook: string, happenings: readonly Happening[]): History => {
  const simulation = createSimulation(graphOf(playbook))
  const turns = happenings.map((happening): HistoryTurn => {
    const ticks = simulation.ticks()
    const input = happening(simulation.state())
    const { reply, events } = simulation.tell(() => input)
    return { input, ticks, reply, events }
  })
  return { title, playbook, turns }
}

/** Decides a turn again on what its log said before it. */
export const decideAgain = (
  graph: Graph,
  past: readonly EventRecord[],
  { input, ticks }: HistoryTurn,
): Pick<HistoryTurn, 'reply' | 'events'> => {
  const session = createSession(graph, fold(past), createTestClock({}, ticks).turn())
  const reply = decide(session, input)
  return { reply, events: session.events }
}
