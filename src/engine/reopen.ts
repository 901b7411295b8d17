/**
 * Retrying in place: an execution that is over is opened again, and what failed in it runs once more.
 *
 * 1. Only an execution that did not complete can be opened, and only if something in it failed or was stopped.
 * 2. Without a list of steps everything that failed runs again. What was stopped goes on in any case.
 * 3. Variables that are given are written before anything runs.
 */
import { EVENT } from '../contract/event.ts'
import { resume } from './advance.ts'
import type { ReopenInput, Reply } from './input.ts'
import { accepted, refused } from './input.ts'
import type { Session } from './session.ts'
import { emit } from './session.ts'
import type { State } from './state.ts'
import { isTerminal } from './state.ts'
import { writeFromOutside } from './variables.ts'

export const reopenExecution = (session: Session, input: ReopenInput): Reply => {
  const { state } = session
  const problem = reopenProblem(session, input.steps)
  if (problem) return problem
  const { eventId } = emit(session, {
    eventType: EVENT.reopened,
    nodeName: 'playbook',
    status: 'RUNNING',
    meta: {
      emitted_by: 'orchestrator',
      steps: stepsToRun(state, input.steps),
      ...(input.reason === null ? {} : { reason: input.reason }),
    },
  })
  session.trigger = eventId
  if (Object.keys(input.variables).length > 0)
    writeFromOutside(session, { type: 'variables', values: input.variables, source: 'retry' })
  resume(session)
  return accepted(eventId)
}

/** Names of the steps whose failure nobody handled, oldest first. */
export const failedSteps = ({ failures }: Pick<State, 'failures'>): readonly string[] => [
  ...new Set(failures.map(({ step }) => step)),
]

/** What runs once more when a state that was cut off is opened; `wanted` chooses among the failed steps. */
export const stepsToRun = (state: State, wanted: readonly string[] | null): readonly string[] => [
  ...new Set([...(wanted ?? failedSteps(state)), ...(state.cut?.running ?? [])]),
]

const reopenProblem = ({ state, graph }: Session, wanted: readonly string[] | null): Reply | null => {
  const { executionId, status } = state
  if (!isTerminal(state))
    return refused('conflict', `Execution ${executionId} is still running; there is nothing to retry yet`)
  const failed = failedSteps(state)
  if (status === 'COMPLETED' || (failed.length === 0 && state.cut === null))
    return refused(
      'conflict',
      `Execution ${executionId} is ${status} and nothing in it failed; rerun it to run it again`,
    )
  const names = graph.playbook.steps.map(({ name }) => name)
  for (const name of wanted ?? []) {
    if (!names.includes(name))
      return refused('invalid', `Step '${name}' is not in the playbook; it has: ${names.join(', ')}`)
    if (!failed.includes(name))
      return refused(
        'invalid',
        `Step '${name}' did not fail; ${failed.length === 0 ? 'no step did' : `these did: ${failed.join(', ')}`}`,
      )
  }
  return null
}
