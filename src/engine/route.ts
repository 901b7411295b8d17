/**
 * After a step run settled: write its variables, decide its arcs once, record the decision as step.exit.
 *
 * 1. Order of effects: step `set`, guards, `set` of the fired arcs in arc order, then the targets.
 * 2. A failed run evaluates only arcs whose guard reads the outcome, unless the step goes on over errors.
 *    A fired arc handles the failure.
 * 3. A bypassed run routes like a completed one, without result and without `set`.
 */
import { EVENT } from '../contract/event.ts'
import type { Json } from '../contract/json.ts'
import type { Arc, Step } from '../playbook/model.ts'
import type { Scope } from '../template/scope.ts'
import { compileCondition } from '../template/template.ts'
import type { Locals } from './scope.ts'
import type { Session } from './session.ts'
import { emit, scopeOf } from './session.ts'
import type { StepState } from './state.ts'
import { stepOf } from './state.ts'
import { applySet } from './variables.ts'
import { errorValue, eventName, outputView, stepView } from './view.ts'

export const routeStep = (session: Session, name: string): void => {
  const step = session.graph.step(name)
  const run = stepOf(session.state, name)
  session.trigger = run.settledBy
  if (run.outcome === 'ok')
    applySet(session, name, 'set', step.set, scopeOf(session, outcomeLocals(session, step, run)))
  // The step's own `set` is visible to its guards; sets of sibling arcs are not.
  const scope = scopeOf(session, outcomeLocals(session, step, run))
  const fired = fireArcs(step, run, scope)
  for (const index of fired) {
    const arc = step.arcs[index]
    if (arc && arc.set.length > 0)
      applySet(session, name, `arc:${index}`, arc.set, scopeOf(session, outcomeLocals(session, step, run)))
  }
  recordExit(session, step, run, fired)
}

/** Indexes of the arcs that fire, in arc order. */
const fireArcs = (step: Step, run: StepState, scope: Scope): readonly number[] => {
  const everyArc = run.outcome !== 'error' || step.onError === 'continue'
  const fired: number[] = []
  for (const [index, arc] of step.arcs.entries()) {
    if (!everyArc && !readsOutcome(arc, step.name)) continue
    if (step.mode !== 'all' && arc.when !== null && !compileCondition(arc.when).test(scope)) continue
    fired.push(index)
    if (step.mode === 'exclusive') break
  }
  return fired
}

const OUTCOME_ROOTS = ['output', 'event', 'error', 'result', 'response']

/** Whether the guard of an arc asks how the step came out; only then a failed step may take it. */
export const readsOutcome = (arc: Arc, step: string): boolean => {
  if (arc.when === null) return false
  const { roots } = compileCondition(arc.when)
  return roots.has(step) || OUTCOME_ROOTS.some((root) => roots.has(root))
}

/** What guards and `set` of a settled step see besides the variables. */
export const outcomeLocals = ({ environment }: Session, step: Step, run: StepState): Locals => {
  if (run.outcome === 'bypassed')
    return { event: { name: eventName('step.skipped'), step: step.name, status: 'skipped' } }
  const failed = run.outcome === 'error'
  const value = stepView(run, step.body.kind === 'pipeline', environment.resolve)
  const name = failed ? eventName('call.error') : eventName(step.loop ? 'loop.done' : 'call.done')
  return {
    output: outputView(run, value),
    result: value,
    response: value,
    event: { name, step: step.name, status: failed ? 'error' : 'success', attempt: 1 },
    ...(failed ? { error: errorValue(run.error) } : {}),
  }
}

const recordExit = (session: Session, step: Step, run: StepState, fired: readonly number[]): void => {
  const next = [...new Set(fired.map((index) => step.arcs[index]?.to ?? ''))]
  const dead = [...new Set(step.arcs.map((arc) => arc.to))].filter((to) => !next.includes(to))
  const strayed = session.graph.playbook.executor.noNextIsError && step.arcs.length > 0 && fired.length === 0
  const failed = run.outcome === 'error'
  const handled = failed && !strayed && (fired.length > 0 || step.onError === 'continue')
  const failedAlone = failed && step.onError !== 'continue'
  const error =
    strayed && !failedAlone
      ? `No arc of step '${step.name}' matched`
      : failed
        ? (run.error?.message ?? 'failed')
        : null
  const status = failed || strayed ? 'FAILED' : 'COMPLETED'
  const context: Record<string, Json> = { next, run: run.run }
  if (dead.length > 0) context['dead'] = dead
  if (handled) context['handled'] = true
  emit(session, {
    eventType: EVENT.stepExit,
    nodeName: step.name,
    status,
    result: { status, context },
    error: handled ? null : error,
  })
}
