/**
 * Why arcs fired or not. Which ones fired is recorded; what their conditions saw is not, so conditions are evaluated
 * again, on the state as it was at that very moment.
 */
import type { Json } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type { Condition, Step } from '../playbook/model.ts'
import type { Scope } from '../template/scope.ts'
import { isView } from '../template/scope.ts'
import { compileCondition } from '../template/template.ts'
import { ResultNeeded } from './reference.ts'
import { outcomeLocals, readsOutcome } from './route.ts'
import { plainOf } from './scope.ts'
import type { Session } from './session.ts'
import { scopeOf } from './session.ts'

/** A condition and what it made of the values it read. */
export interface Judged {
  readonly when: string | null
  /** Null when it was not evaluated, or could not be. */
  readonly holds: boolean | null
  /** What it read, by path such as `output.status`. */
  readonly values: Readonly<Record<string, Json>>
  readonly problem: string | null
}

export type ArcReason =
  | 'unconditional'
  | 'condition_true'
  | 'condition_false'
  | 'condition_failed'
  /** The router is exclusive and an arc before this one fired. */
  | 'earlier_arc_fired'
  /** The step failed, and this arc does not ask how it came out. */
  | 'failure_not_read'

export interface ArcVerdict extends Judged {
  readonly index: number
  readonly to: string
  readonly reason: ArcReason
  readonly fired: boolean
}

/** Every arc of a step that has settled in this state, in arc order. */
export const judgeArcs = (session: Session, step: Step): readonly ArcVerdict[] => {
  const run = session.state.steps.get(step.name)
  if (!run) return []
  const scope = scopeOf(session, outcomeLocals(session, step, run))
  const everyArc = run.outcome !== 'error' || step.onError === 'continue'
  let taken = false
  return step.arcs.map((arc, index): ArcVerdict => {
    const place = { index, to: arc.to }
    const unread = { when: arc.when, holds: null, values: {}, problem: null, fired: false }
    if (!everyArc && !readsOutcome(arc, step.name)) return { ...place, ...unread, reason: 'failure_not_read' }
    if (taken && step.mode === 'exclusive') return { ...place, ...unread, reason: 'earlier_arc_fired' }
    const judged = judge(arc.when, scope)
    const isFree = step.mode === 'all' || arc.when === null
    const fired = isFree || judged.holds === true
    taken ||= fired
    return { ...place, ...judged, fired, reason: isFree ? 'unconditional' : reasonOf(judged) }
  })
}

const reasonOf = ({ holds }: Judged): ArcReason => {
  if (holds === null) return 'condition_failed'
  return holds ? 'condition_true' : 'condition_false'
}

export const judge = (when: Condition | null, scope: Scope): Judged => {
  if (typeof when !== 'string') return { when: null, holds: when ?? true, values: {}, problem: null }
  try {
    const condition = compileCondition(when)
    const values = Object.fromEntries(condition.paths.map((path) => [path.join('.'), readPath(scope, path)]))
    return { when, values, holds: condition.test(scope), problem: null }
  } catch (error) {
    if (error instanceof ResultNeeded) throw error
    const problem = error instanceof Error ? error.message : String(error)
    return { when, values: {}, holds: null, problem }
  }
}

/** Null for what is not there. */
const readPath = (scope: Scope, [root = '', ...keys]: readonly string[]): Json => {
  let value: unknown = scope.lookup(root)
  for (const key of keys) {
    if (value === undefined || value === null) return null
    value = memberOf(value, key)
  }
  return plainOf(value)
}

const memberOf = (value: unknown, key: string): unknown => {
  if (isView(value)) {
    const index = value.sequence && /^\d+$/.test(key) ? value.sequence()[Number(key)] : undefined
    return index ?? (value.get ? value.get(key) : memberOf(value.plain(), key))
  }
  if (Array.isArray(value)) return value[Number(key)]
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}
