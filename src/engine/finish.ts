/** The end of an execution: exactly one terminal event, with the final result. */
import { EVENT } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import type { Graph } from './graph.ts'
import { referenceOf } from './reference.ts'
import { plainOf } from './scope.ts'
import type { EventDraft, Session } from './session.ts'
import { emit } from './session.ts'
import type { State } from './state.ts'
import { stepView } from './view.ts'

/** The terminal event of an execution in which nothing can move any more. */
export const finishExecution = (session: Session): void => {
  const { state } = session
  const failed = state.failures.length > 0
  const status = failed ? 'FAILED' : 'COMPLETED'
  const failedSteps = [...new Set(state.failures.map((failure) => failure.step))]
  const first = state.failures[0]
  const error = first ? `Step '${first.step}' failed: ${first.error}` : null
  const context: JsonObject = {
    data: finalResult(session.graph, state),
    ...(failed ? { error, failed_steps: failedSteps } : {}),
  }
  endWith(session, {
    eventType: failed ? EVENT.failed : EVENT.completed,
    nodeName: 'playbook',
    status,
    result: { status, context },
    meta: { emitted_by: 'orchestrator', ...(failed ? { failed_steps: failedSteps } : {}) },
    error,
  })
}

/** Ends an execution whose next decision cannot be made. */
export const failEvaluation = (session: Session, reason: string): void => {
  const error = `Orchestrator evaluate failed: ${reason}`
  endWith(session, {
    eventType: EVENT.failed,
    nodeName: 'playbook',
    status: 'FAILED',
    result: { status: 'FAILED', context: { error } },
    meta: { emitted_by: 'orchestrator', reason: 'evaluate_error', error },
    error,
  })
}

/** Writes a terminal event; commands that are still open are cancelled with it, and a parent that waits is told. */
export const endWith = (session: Session, draft: EventDraft): string => {
  for (const command of session.state.commands.values()) {
    session.changes.push({ eventId: command.eventId, status: 'CANCELLED' })
  }
  const { parentExecutionId, parentCommandId } = session.state
  if (parentExecutionId !== null && parentCommandId !== null) {
    session.timers.push({
      timerId: session.environment.nextId(),
      kind: 'child_ended',
      delayMs: 0,
      payload: { parent_execution_id: parentExecutionId, command_id: parentCommandId },
    })
  }
  return emit(session, draft).eventId
}

/** Data of `end` if it ran, else of the step that completed last. Steps without a tool have none to give. */
export const finalResult = (graph: Graph, state: State): Json => {
  const name = completed(state, 'end') ? 'end' : state.lastCompleted
  const step = name === null ? undefined : state.steps.get(name)
  if (name === null || !step) return null
  // A result that is stored apart stays a reference.
  if (referenceOf(step.data) !== null) return step.data ?? null
  return plainOf(stepView(step, graph.step(name).body.kind === 'pipeline', () => undefined))
}

const completed = (state: State, name: string): boolean => {
  const step = state.steps.get(name)
  return step?.outcome === 'ok' && step.data !== undefined
}
