/**
 * Starting a step run: limits, guards, then its commands.
 *
 * 1. The guard is evaluated once per run, before anything is dispatched.
 * 2. A loop's collection is evaluated once, on entry, and frozen in step.enter.
 */
import { EVENT } from '../contract/event.ts'
import type { JsonObject } from '../contract/json.ts'
import type { Condition, Loop, Step } from '../playbook/model.ts'
import type { Scope } from '../template/scope.ts'
import { compileCondition } from '../template/template.ts'
import { collectionOf, positiveInteger, windowOf } from './collection.ts'
import { issueCommand } from './command.ts'
import { refillLoop } from './loop.ts'
import type { Session } from './session.ts'
import { emit, FINAL, scopeOf } from './session.ts'
import { skipStep } from './skip.ts'

export const enterStep = (session: Session, name: string, final = false): void => {
  const step = session.graph.step(name)
  checkLimits(session, name)
  const scope = scopeOf(session)
  if (!isAdmitted(step, scope)) return skipStep(session, name, 'guard', final)
  if (step.loop) {
    emitEnter(session, step, final, loopContext(session, step.loop, scope))
    return refillLoop(session, name)
  }
  if (step.body.kind === 'none') return emitEnter(session, step, final, { tool: false })
  emitEnter(session, step, final, null)
  return issueCommand(session, step, null)
}

const checkLimits = ({ state, environment: { limits } }: Session, name: string): void => {
  if ((state.steps.get(name)?.run ?? 0) >= limits.runsPerStep) {
    throw new Error(`ran ${limits.runsPerStep} times, the most a step may run in one execution`)
  }
  if (state.stepRuns >= limits.runsPerExecution) {
    throw new Error(
      `would be run ${state.stepRuns + 1} of the execution, which may have ${limits.runsPerExecution}`,
    )
  }
}

const isAdmitted = (step: Step, scope: Scope): boolean => {
  if (step.when !== null && !holds(step.when, scope)) return false
  const rule = step.admit.find((candidate) => holds(candidate.when, scope))
  return rule?.allow ?? true
}

const holds = (condition: Condition, scope: Scope): boolean =>
  typeof condition === 'boolean' ? condition : compileCondition(condition).test(scope)

const loopContext = (session: Session, loop: Loop, scope: Scope): JsonObject => {
  if (loop.cursor) {
    return {
      __cursor_loop: true,
      iterator_var: loop.iterator,
      window: positiveInteger('row_concurrency', loop.cursor.rowConcurrency, scope),
      on_error: loop.onError,
    }
  }
  const items = collectionOf(loop, scope, session.environment.limits)
  return {
    iterations_expected: items.length,
    iterator_var: loop.iterator,
    window: windowOf(loop, scope, session.environment.limits),
    on_error: loop.onError,
    items,
  }
}

const emitEnter = (session: Session, step: Step, final: boolean, context: JsonObject | null): void => {
  emit(session, {
    eventType: EVENT.stepEnter,
    nodeName: step.name,
    status: 'ENTERED',
    result: context ? { status: 'ENTERED', context } : { status: 'ENTERED' },
    ...(final ? { meta: FINAL } : {}),
  })
}
