/**
 * Laws that hold for every playbook and every behaviour of workers, tried on random ones.
 *
 * 1. The live state is the fold of the stored log, at every position, also from a snapshot and its tail.
 * 2. Answered commands lead to a terminal state: one terminal event, the last one that the engine writes.
 * 3. No command is issued twice for the same step, run and index, in a cursor loop for the same row or claim of a frame.
 * 4. A decision repeated on the same state gives the same events, also after a restart from a snapshot.
 * 5. Repeated and stale reports write nothing.
 * 6. A running execution has an open command: it never waits without a cause.
 * 7. A loop never has more commands outstanding than its window; a cursor never asks while it works on rows.
 * 8. A parked command has no holder.
 *
 * ENGINE_SEEDS runs more of them, ENGINE_SEED only the one with that number.
 */
import { describe, expect, it } from 'vitest'
import type { EventRecord } from '../contract/event.ts'
import { EVENT, terminalStatusOf } from '../contract/event.ts'
import { decide } from './decide.ts'
import { evolve } from './evolve.ts'
import type { Graph } from './graph.ts'
import { createSession } from './session.ts'
import { decodeState, encodeState } from './snapshot.ts'
import type { State } from './state.ts'
import { createState } from './state.ts'
import { createTestClock } from './testing/environment.ts'
import { started } from './testing/inputs.ts'
import type { Happening } from './testing/inputs.ts'
import { graphOf } from './testing/playbook.ts'
import type { Random } from './testing/random.ts'
import { createRandom } from './testing/random.ts'
import { randomFlags, randomPlaybook } from './testing/random-playbook.ts'
import { createRandomWorker } from './testing/random-worker.ts'
import type { Simulation, Turn } from './testing/simulation.ts'
import { createSimulation, EXECUTION_ID } from './testing/simulation.ts'

const SEEDS = Number(process.env['ENGINE_SEEDS'] ?? 300)
const ONLY = process.env['ENGINE_SEED']
const MAX_TURNS = 20_000

const seeds = ONLY === undefined ? Array.from({ length: SEEDS }, (_, index) => index + 1) : [Number(ONLY)]

const restarted = (state: State): State => {
  const read = decodeState(encodeState(state))
  if (!read) throw new Error('a snapshot was not read')
  return read
}

/** What a reader of the stored log sees: events that went through JSON. */
const stored = (event: EventRecord): EventRecord => JSON.parse(JSON.stringify(event)) as EventRecord

/** Folds beside the simulation: from scratch, and from snapshots taken at random positions. */
const createShadow = (random: Random) => {
  const whole = createState(EXECUTION_ID)
  let resumed = createState(EXECUTION_ID)
  return {
    follow: (events: readonly EventRecord[]): void => {
      for (const event of events.map(stored)) {
        evolve(whole, event)
        evolve(resumed, event)
        expect(encodeState(resumed), 'snapshot and tail (law 1)').toBe(encodeState(whole))
        if (random.chance(0.1)) resumed = restarted(whole)
      }
    },
    check: (state: State): void =>
      expect(encodeState(state), 'fold of the log (law 1)').toBe(encodeState(whole)),
  }
}

/** Decides once aside, on a state read from a snapshot, then for real; both must agree. */
const tellTwice = (graph: Graph, simulation: Simulation, happening: Happening): Turn => {
  const state = restarted(simulation.state())
  const session = createSession(graph, state, createTestClock({}, simulation.ticks()).turn())
  const input = happening(simulation.state())
  const reply = decide(session, input)
  const turn = simulation.tell(() => input)
  expect(JSON.stringify(turn.events), 'the same decision again (law 4)').toBe(JSON.stringify(session.events))
  expect(turn.reply).toEqual(reply)
  expect(turn.changes).toEqual(session.changes)
  expect(turn.timers).toEqual(session.timers)
  return turn
}

const checkRunning = (simulation: Simulation): void => {
  if (simulation.status() === 'RUNNING')
    expect(simulation.open().length, 'open commands (law 6)').toBeGreaterThan(0)
  for (const { loop, cursor } of simulation.state().steps.values()) {
    const some = loop ?? cursor
    if (some) expect(some.outstanding, 'outstanding iterations (law 7)').toBeLessThanOrEqual(some.window)
    if (cursor) expect(cursor.claiming && cursor.rows !== null, 'claim amid rows (law 7)').toBe(false)
  }
  for (const { parked, workerId } of simulation.state().commands.values()) {
    if (parked) expect(workerId, 'holder of a parked command (law 8)').toBeNull()
  }
}

const checkIssued = (events: readonly EventRecord[]): void => {
  const run = new Map<string, number>()
  const issued = new Set<string>()
  for (const { eventType, nodeName, meta } of events) {
    const name = nodeName ?? ''
    if (eventType === EVENT.stepEnter) run.set(name, (run.get(name) ?? 0) + 1)
    if (eventType !== EVENT.commandIssued) continue
    const key = JSON.stringify([name, run.get(name), meta['iteration_index'] ?? null, meta['cursor'] ?? null])
    expect(issued.has(key), `${key} issued twice (law 3)`).toBe(false)
    issued.add(key)
  }
}

const checkEnd = (simulation: Simulation): void => {
  const terminal = simulation.events.filter((event) => terminalStatusOf(event.eventType) !== null)
  expect(terminal, 'one terminal event (law 2)').toHaveLength(1)
  expect(simulation.events.at(-1), 'the last event (law 2)').toBe(terminal[0])
  const { running, settled, tokens, commands } = simulation.state()
  expect([running.size, settled.length, tokens.length, commands.size]).toEqual([0, 0, 0, 0])
}

const liveThrough = (seed: number): string => {
  const random = createRandom(seed)
  const text = randomPlaybook(random, {
    maxSteps: random.pick([4, 9, 16]),
    cycles: random.chance(0.5),
    loops: random.chance(0.6),
    extras: random.chance(0.6),
  })
  try {
    const graph = graphOf(text)
    const simulation = createSimulation(graph)
    const shadow = createShadow(random)
    const worker = createRandomWorker(random, random.pick([0, 0.1, 0.4]))
    const follow = (turn: Turn): void => {
      shadow.follow(turn.events)
      shadow.check(simulation.state())
      checkRunning(simulation)
    }
    follow(tellTwice(graph, simulation, started(randomFlags(random))))
    for (let turns = 0; simulation.status() === 'RUNNING'; turns += 1) {
      if (turns > MAX_TURNS) throw new Error(`no end after ${MAX_TURNS} turns (law 2)`)
      const { happening, expects } = worker.act(simulation.state())
      const turn = tellTwice(graph, simulation, happening)
      expect(turn.events.length > 0, `${expects} written (law 5)`).toBe(expects === 'something')
      follow(turn)
    }
    checkEnd(simulation)
    checkIssued(simulation.events)
    return `${simulation.status()}${simulation.state().error?.startsWith('Orchestrator') === true ? ' by evaluation' : ''}`
  } catch (error) {
    throw new Error(
      `ENGINE_SEED=${seed}: ${error instanceof Error ? error.message : String(error)}\n${text}`,
      { cause: error },
    )
  }
}

describe('random executions', () => {
  it(`keep the laws in ${seeds.length} cases`, { timeout: 60_000 + seeds.length * 200 }, () => {
    const ends = new Map<string, number>()
    for (const seed of seeds) {
      const end = liveThrough(seed)
      ends.set(end, (ends.get(end) ?? 0) + 1)
    }
    // Random playbooks that mostly break early would prove little.
    expect(ends.get('FAILED by evaluation')).toBeUndefined()
    if (ONLY === undefined) expect(ends.get('COMPLETED') ?? 0).toBeGreaterThan(seeds.length / 3)
  })
})
