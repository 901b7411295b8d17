/**
 * An execution in memory: the engine with a deterministic environment, and a log that only grows.
 *
 * 1. Each turn is one call of `decide`; its events are appended to `events`, as one commit would.
 * 2. After each turn the state equals the fold of the log from scratch when the simulation is strict.
 */
import type { EventRecord, ExecutionStatus } from '../../contract/event.ts'
import { EVENT } from '../../contract/event.ts'
import type { Json } from '../../contract/json.ts'
import { decide } from '../decide.ts'
import { evolve } from '../evolve.ts'
import type { Graph } from '../graph.ts'
import type { Input, Reply } from '../input.ts'
import { ResultMissing, ResultNeeded } from '../reference.ts'
import type { CommandChange, Limits, NewTimer, Session } from '../session.ts'
import { createSession } from '../session.ts'
import { encodeState } from '../snapshot.ts'
import type { CommandState, State } from '../state.ts'
import { createState } from '../state.ts'
import { describeEvent } from './describe-event.ts'
import type { Ticks } from './environment.ts'
import { createTestClock } from './environment.ts'
import type { Happening } from './inputs.ts'
import { commandNamed, completed, failed, nameOf } from './inputs.ts'

export interface Turn {
  readonly reply: Reply
  readonly events: readonly EventRecord[]
  /** The events in one line each. */
  readonly lines: readonly string[]
  readonly changes: readonly CommandChange[]
  readonly timers: readonly NewTimer[]
}

export interface Simulation {
  readonly graph: Graph
  readonly events: readonly EventRecord[]
  state(): State
  status(): ExecutionStatus | null
  /** Steps in the order they were entered. */
  runs(): readonly string[]
  /** Names of the open commands, oldest first. */
  open(): readonly string[]
  command(name: string): CommandState
  tell(happening: Happening): Turn
  /** Answers every command, oldest first, until none is open. */
  runAll(tool: Tool): void
  lines(): readonly string[]
  /** The context of the newest command.issued of a step. */
  issued(name: string): EventRecord
  ticks(): Ticks
  /** References that decisions asked for, in order. */
  fetched(): readonly string[]
}

/** What a tool answers; an Error fails the command. */
export type Tool = (name: string, command: CommandState) => Json | Error | undefined

export const EXECUTION_ID = '500'

export interface SimulationOptions {
  readonly limits?: Partial<Limits>
  /** A log to go on from, and the counters it ended with. */
  readonly past?: readonly EventRecord[]
  readonly ticks?: Ticks
  /** Replaces the state before each turn, as a restart would. */
  readonly restart?: (state: State) => State
  /** Data stored apart, by reference. It is at hand only after a decision has asked for it. */
  readonly results?: Readonly<Record<string, Json>>
}

export const fold = (events: readonly EventRecord[]): State => {
  const state = createState(EXECUTION_ID)
  for (const event of events) evolve(state, event)
  return state
}

export const createSimulation = (graph: Graph, options: SimulationOptions = {}): Simulation => {
  const events: EventRecord[] = [...(options.past ?? [])]
  const fetched: string[] = []
  const clock = createTestClock(options.limits, options.ticks, (ref) => {
    if (!fetched.includes(ref)) return undefined
    const data = options.results?.[ref]
    if (data === undefined) throw new ResultMissing(ref)
    return data
  })
  let state = fold(events)

  const tell = (happening: Happening): Turn => {
    if (options.restart) state = options.restart(state)
    const session = createSession(graph, state, clock.turn())
    const input = happening(state)
    const reply = decideOrAsk(session, input)
    if (typeof reply === 'string') {
      fetched.push(reply)
      state = fold(events)
      return tell(() => input)
    }
    if (input.type === 'start' && !reply.ok) {
      // Nothing of a refused start is written.
      state = fold(events)
      return { reply, events: [], lines: [], changes: [], timers: [] }
    }
    events.push(...session.events)
    return {
      reply,
      events: session.events,
      lines: session.events.map(describeEvent),
      changes: session.changes,
      timers: session.timers,
    }
  }

  const open = (): readonly string[] => [...state.commands.values()].map(nameOf)
  const command = (name: string): CommandState => commandNamed(state, name)

  return {
    graph,
    events,
    tell,
    open,
    command,
    state: () => state,
    status: () => state.status,
    runs: () =>
      events.filter((event) => event.eventType === EVENT.stepEnter).map((event) => event.nodeName ?? ''),
    runAll: (tool) => {
      for (let next = open()[0]; next !== undefined; next = open()[0]) {
        const answer = tool(next, command(next))
        tell(answer instanceof Error ? failed(next, answer.message) : completed(next, answer))
      }
    },
    lines: () => events.map(describeEvent),
    issued: (name) => {
      const found = events.findLast(
        (event) => event.eventType === EVENT.commandIssued && describeEvent(event).endsWith(` ${name}`),
      )
      if (!found) throw new Error(`no command was issued for '${name}'`)
      return found
    },
    ticks: () => clock.ticks(),
    fetched: () => fetched,
  }
}

/** The reply, or the reference without whose data there is none. */
const decideOrAsk = (session: Session, input: Input): Reply | string => {
  try {
    return decide(session, input)
  } catch (error) {
    if (error instanceof ResultNeeded) return error.ref
    throw error
  }
}

/** Starts an execution and answers all its commands. */
export const runThrough = (
  graph: Graph,
  tool: Tool,
  start: Happening,
  options: SimulationOptions = {},
): Simulation => {
  const simulation = createSimulation(graph, options)
  simulation.tell(start)
  simulation.runAll(tool)
  return simulation
}

/** True when the state is what its log says. */
export const isFoldOf = (state: State, events: readonly EventRecord[]): boolean =>
  encodeState(state) === encodeState(fold(events))
