/**
 * Forking: what a new execution takes over from the log of another one.
 *
 * 1. A fork is cut out of the log of its origin: everything (`failed`), everything up to an event, or everything but
 *    one step, from its latest run on, and what can be reached from it.
 * 2. What is cut out is stopped where it stands and opened again: results are kept, everything that failed or was under
 *    way runs again.
 * 3. Under another version of the playbook, results of steps that are gone are not kept, and a fork that would go on
 *    with such a step is refused.
 */
import type { EventRecord } from '../contract/event.ts'
import { EVENT, terminalStatusOf } from '../contract/event.ts'
import { evolve } from './evolve.ts'
import type { Frontier, KeptStep, Seed } from './fork-state.ts'
import { frontierFacts, keptFacts } from './fork-state.ts'
import type { Graph } from './graph.ts'
import { bringBack, cutOff } from './reopen-state.ts'
import { stepsToRun } from './reopen.ts'
import type { Session } from './session.ts'
import { emit } from './session.ts'
import type { State, StepState } from './state.ts'
import { createState, isTerminal } from './state.ts'

export type ForkPoint =
  | { readonly type: 'failed' }
  /** Everything up to this position. */
  | { readonly type: 'position'; readonly position: number }
  /** Just before this entry of the step. */
  | { readonly type: 'step'; readonly step: string; readonly enteredAt: number }

export interface ForkFold {
  /** Whether the fork takes the event over. */
  add(event: EventRecord): boolean
  /** The state that the fork begins with, apart from who it is. */
  finish(): State
}

/**
 * Reads the log of the origin, event by event. `graph` is the origin's. `begin` is its state at a position up to which
 * everything is taken over; it is used up.
 */
export const createForkFold = (
  graph: Graph,
  executionId: string,
  point: ForkPoint,
  begin: State | null = null,
): ForkFold => {
  const state = begin ?? createState(executionId)
  const takes = takerOf(graph, point)
  return {
    add: (event) => {
      const isTaken = takes(event)
      if (isTaken) evolve(state, event)
      return isTaken
    },
    finish: () => {
      if (!isTerminal(state)) cutOff(state)
      bringBack(state, stepsToRun(state, null))
      return state
    },
  }
}

const takerOf = (graph: Graph, point: ForkPoint): ((event: EventRecord) => boolean) => {
  if (point.type === 'failed') return () => true
  if (point.type === 'position') return ({ position }) => position <= point.position
  const gone = new Set([point.step, ...graph.reachable(point.step)])
  return ({ position, nodeName, eventType }) =>
    position < point.enteredAt ||
    (!(nodeName !== null && gone.has(nodeName)) &&
      terminalStatusOf(eventType) === null &&
      eventType !== EVENT.reopened)
}

export const seedOf = (state: State): Seed => ({
  vars: { ...state.vars },
  kept: [...state.steps].flatMap(([name, step]) => (isKept(step) ? [keptOf(name, step)] : [])),
  frontier: {
    tokens: state.tokens,
    settled: state.settled,
    dead: [...state.deadTargets],
    currentStep: state.currentStep,
    lastCompleted: state.lastCompleted,
  },
})

const isKept = ({ outcome, data, loop }: StepState): boolean =>
  outcome !== null || data !== undefined || loop !== null

const keptOf = (name: string, step: StepState): KeptStep => ({
  name,
  // The run of a loop that goes on is counted when it does.
  run: step.loop ? step.run - 1 : step.run,
  entered: step.entered,
  outcome: step.outcome,
  handled: step.handled,
  looped: step.looped,
  data: step.data,
  error: step.error,
  loop: step.loop,
})

export interface FittedSeed {
  readonly seed: Seed
  /** Steps whose results are not kept because the playbook has them no more. */
  readonly dropped: readonly string[]
  /** Steps that the fork would go on with and that the playbook does not have. */
  readonly missing: readonly string[]
}

/** The seed as far as it has a meaning in a playbook, which may be another version of the one it comes from. */
export const fitSeed = ({ vars, kept, frontier }: Seed, { playbook }: Graph): FittedSeed => {
  const steps = new Map(playbook.steps.map((step) => [step.name, step]))
  const isLoop = (name: string): boolean =>
    Array.isArray(steps.get(name)?.loop?.in) || typeof steps.get(name)?.loop?.in === 'string'
  const known = kept.filter(({ name }) => steps.has(name))
  // A step that is no loop any more begins anew instead of going on.
  const anew = known.filter(({ name, loop }) => loop !== null && !isLoop(name)).map(({ name }) => name)
  const fitted: Frontier = {
    ...frontier,
    tokens: [...frontier.tokens, ...anew.map((to) => ({ from: '', to }))],
    dead: frontier.dead.filter((name) => steps.has(name)),
    currentStep: nameIn(steps, frontier.currentStep),
    lastCompleted: nameIn(steps, frontier.lastCompleted),
  }
  const goesOn = [
    ...fitted.tokens.map(({ to }) => to),
    ...frontier.settled,
    ...kept.filter(({ loop }) => loop !== null).map(({ name }) => name),
  ]
  return {
    seed: {
      vars,
      kept: known.map((step) => (anew.includes(step.name) ? { ...step, loop: null } : step)),
      frontier: fitted,
    },
    dropped: kept.filter(({ name }) => !steps.has(name)).map(({ name }) => name),
    missing: [...new Set(goesOn)].filter((name) => !steps.has(name)),
  }
}

const nameIn = (steps: ReadonlyMap<string, unknown>, name: string | null): string | null =>
  name !== null && steps.has(name) ? name : null

/** Records what is taken over, right after the start. */
export const emitSeed = (session: Session, { vars, kept, frontier }: Seed): void => {
  if (Object.keys(vars).length > 0) {
    emit(session, {
      eventType: EVENT.contextUpdated,
      nodeName: null,
      status: 'CONTEXT',
      result: { status: 'CONTEXT', context: { step: null, source: 'kept', values: vars } },
    })
  }
  for (const step of kept) {
    const status = step.outcome === 'error' ? 'FAILED' : step.outcome === 'skipped' ? 'SKIPPED' : 'COMPLETED'
    emit(session, {
      eventType: EVENT.stepKept,
      nodeName: step.name,
      status: step.loop ? 'RUNNING' : status,
      result: { status: step.loop ? 'RUNNING' : status, context: keptFacts(step) },
    })
  }
  emit(session, {
    eventType: EVENT.seeded,
    nodeName: 'playbook',
    status: 'RUNNING',
    result: { status: 'RUNNING', context: frontierFacts(frontier) },
  })
}
