/** What the state of an execution says about its steps and commands, in words that people use. */
import { CHILD_KIND } from './command.ts'
import type { CommandState, State, StepOutcome } from './state.ts'

/**
 * `waiting`: an arc leads to it and it has not started; `routing`: it ended and its arcs are being decided; `stopped`: the
 * end of the execution came before its own. `kept` is no state of its own: a kept step is what it came to.
 */
export type StepWord =
  | 'not_reached'
  | 'waiting'
  | 'running'
  | 'routing'
  | 'stopped'
  | 'completed'
  | 'failed'
  | 'skipped'
  | 'bypassed'

export const stepWord = (state: State, name: string): StepWord => {
  const step = state.steps.get(name)
  if (step && state.running.has(name)) return 'running'
  if (step && state.settled.includes(name)) return 'routing'
  if (state.tokens.some(({ to }) => to === name)) return 'waiting'
  if (state.cut?.running.includes(name)) return 'stopped'
  return step?.outcome ? OUTCOME_WORDS[step.outcome] : 'not_reached'
}

const OUTCOME_WORDS: Readonly<Record<StepOutcome, StepWord>> = {
  ok: 'completed',
  error: 'failed',
  skipped: 'skipped',
  bypassed: 'bypassed',
}

/** What an open command waits for. */
export type Wait =
  /** A worker that takes it. */
  | { readonly for: 'worker' }
  /** The report of the worker that holds it. */
  | { readonly for: 'report'; readonly worker: string }
  | { readonly for: 'child'; readonly childId: string }
  /** An answer from outside. */
  | { readonly for: 'callback' }

export const waitOf = ({ parked, toolKind, workerId, eventId }: CommandState): Wait => {
  if (parked) return toolKind === CHILD_KIND ? { for: 'child', childId: eventId } : { for: 'callback' }
  return workerId === null ? { for: 'worker' } : { for: 'report', worker: workerId }
}
