/**
 * One pass: after something happened, do everything that follows from it until only outside work is left.
 *
 * 1. Every pass ends with outstanding work or a terminal event: an execution never waits without a cause.
 * 2. Settled steps are routed in the order they settled; ready steps start in workflow order.
 * 3. A decision that cannot be made (a template fails) ends the execution; it would fail again for ever.
 */
import { enterStep } from './enter.ts'
import { failEvaluation, finishExecution } from './finish.ts'
import { refillLoop } from './loop.ts'
import { isAlive, isBlocked, isQuiescent, nextReady } from './ready.ts'
import { ResultNeeded } from './reference.ts'
import { routeStep } from './route.ts'
import type { Session } from './session.ts'
import { skipStep } from './skip.ts'
import { isTerminal } from './state.ts'

/** `touched`: the step one of whose commands just ended, if any; `first` is what its end asks for before all else. */
export const advance = (session: Session, touched: string | null, first?: () => void): void => {
  if (isTerminal(session.state)) return
  attempt(session, () => {
    if (touched !== null) {
      about(touched, () => {
        first?.()
        refillLoop(session, touched)
      })
    }
    runPass(session)
  })
}

/** Goes on from a state that was brought back: the loops in it are supplied first. */
export const resume = (session: Session): void =>
  attempt(session, () => {
    for (const name of session.state.running) about(name, () => refillLoop(session, name))
    runPass(session)
  })

const attempt = (session: Session, decisions: () => void): void => {
  try {
    decisions()
  } catch (error) {
    if (error instanceof ResultNeeded) throw error
    failEvaluation(session, error instanceof Error ? error.message : String(error))
  }
}

const runPass = (session: Session): void => {
  const { graph, state } = session
  const { executor } = graph.playbook
  while (!isTerminal(state)) {
    const settled = state.settled[0]
    if (settled !== undefined) {
      about(settled, () => routeStep(session, settled))
      continue
    }
    const ready = nextReady(graph, state)
    if (ready === null) break
    const stopped = executor.failFast && state.failures.length > 0
    if (stopped || isBlocked(graph, state, ready)) skipStep(session, ready, 'upstream_failed')
    else about(ready, () => enterStep(session, ready))
  }
  if (isTerminal(state)) return
  reportDeadPaths(session)
  if (!isQuiescent(state)) return
  const { finalStep } = executor
  if (finalStep !== null && !state.finalStepEntered) {
    about(finalStep, () => enterStep(session, finalStep, true))
    return runPass(session)
  }
  finishExecution(session)
}

/** Names the step in whatever goes wrong while deciding about it. */
const about = (step: string, decision: () => void): void => {
  try {
    decision()
  } catch (error) {
    if (error instanceof ResultNeeded) throw error
    throw new Error(`Step '${step}': ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}

/** Steps that were never entered and no longer can be. Marks spread to what only they could have reached. */
const reportDeadPaths = (session: Session): void => {
  const { graph, state } = session
  for (const name of state.deadTargets) {
    if (isAlive(graph, state, name)) continue
    skipStep(session, name, isBlocked(graph, state, name) ? 'upstream_failed' : 'dead_path')
  }
}
