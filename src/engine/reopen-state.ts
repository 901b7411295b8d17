/**
 * The fold of an end, and of its undoing.
 *
 * 1. What an end stops is kept aside; opening the execution again brings it back. An end that stopped nothing keeps
 *    nothing.
 * 2. A step that runs again is entered anew. A loop goes on instead: its finished iterations keep their results, those
 *    that failed or had not ended are issued once more.
 * 3. Joins that were given up because of a failure get their tokens back and are judged again.
 * 4. Failures of other steps stay what they were.
 */
import type { EventRecord } from '../contract/event.ts'
import type { LoopState, State, StepState } from './state.ts'
import { stepOf } from './state.ts'

/** Stops everything that is under way. */
export const cutOff = (state: State): void => {
  const iterations = [...state.commands.values()].flatMap(({ step, index }) =>
    index === null ? [] : [{ step, index }],
  )
  const cut = {
    running: [...state.running],
    settled: state.settled,
    tokens: state.tokens,
    dead: [...state.deadTargets],
    iterations,
  }
  const isNothing = Object.values(cut).every((list) => list.length === 0)
  state.cut = isNothing ? null : cut
  state.commands.clear()
  state.running.clear()
  state.deadTargets.clear()
  state.tokens = []
  state.settled = []
}

export const reopen = (state: State, { meta }: EventRecord): void => {
  const steps = Array.isArray(meta['steps']) ? meta['steps'].filter((name) => typeof name === 'string') : []
  bringBack(state, steps)
}

/** Opens a state that was cut off: `again` names the steps that run once more. */
export const bringBack = (state: State, again: readonly string[]): void => {
  const { cut } = state
  const chosen = new Set(again)
  state.status = 'RUNNING'
  state.finishedAt = null
  state.error = null
  state.finalStepEntered = false
  state.cut = null
  const failures = state.failures.filter(({ step }) => !chosen.has(step))
  state.failures.splice(0, state.failures.length, ...failures)
  state.tokens.push(...(cut?.tokens ?? []), ...state.dropped)
  state.dropped = []
  for (const step of state.steps.values()) step.blocked = false
  for (const name of cut?.dead ?? []) state.deadTargets.add(name)
  state.settled = (cut?.settled ?? []).filter((name) => !chosen.has(name))
  for (const name of chosen) runAgain(state, name, cut)
}

const runAgain = (state: State, name: string, cut: State['cut']): void => {
  const step = stepOf(state, name)
  step.phase = 'rest'
  if (step.outcome === 'error') {
    state.counts.failed -= 1
    step.outcome = null
    step.error = null
  }
  const loop = step.loop ?? step.stopped
  step.loop = null
  step.stopped = null
  step.cursor = null
  if (!loop) {
    state.tokens.push({ from: '', to: name })
    return
  }
  const open = (cut?.iterations ?? []).filter((iteration) => iteration.step === name)
  goOn(
    state,
    name,
    step,
    unfinished(
      loop,
      open.map(({ index }) => index),
    ),
  )
}

/** The loop with only its successes done. */
const unfinished = (loop: LoopState, open: readonly number[]): LoopState => ({
  ...loop,
  results: [...loop.results],
  outstanding: 0,
  done: loop.done - loop.failed,
  failed: 0,
  again: [...new Set([...loop.again, ...loop.failedAt, ...open])].sort((a, b) => a - b),
  failedAt: [],
  error: null,
})

/** A further run of a loop step that starts from what the loop has. */
export const goOn = (state: State, name: string, step: StepState, loop: LoopState): void => {
  step.run += 1
  state.stepRuns += 1
  step.phase = 'running'
  step.loop = loop
  state.running.add(name)
  state.currentStep = name
}
