/**
 * `set` in a pipeline: targets to values.
 *
 * 1. `ctx.x` and a bare `x` are the same variable, known to the execution; `iter.x` and `step.x` live as long as the
 *    pipeline, each under its own name only.
 * 2. Dots nest: `ctx.a.b` writes into `a`, and `a` becomes a mapping when it is none.
 * 3. What belongs to the execution or the tool cannot be written.
 */
import type { Json } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { setMember } from '../../template/values.ts'
import { configFailure } from '../tool-failure.ts'

export interface SetEntry {
  /** As written, for messages. */
  readonly target: string
  readonly scope: 'ctx' | 'iter' | 'step'
  /** Never empty. */
  readonly path: readonly string[]
  /** May contain templates. */
  readonly value: Json
}

const READ_ONLY: ReadonlySet<string> = new Set([
  'workload',
  'keychain',
  'output',
  'event',
  'steps',
  'execution_id',
  'catalog_id',
])

const isScope = (word: string | undefined): word is SetEntry['scope'] =>
  word === 'ctx' || word === 'iter' || word === 'step'

export const readSet = (set: Json | undefined, scope?: SetEntry['scope']): readonly SetEntry[] => {
  if (set === undefined || set === null) return []
  if (!isObject(set)) throw configFailure('set must be a mapping of targets to values')
  return Object.keys(set).map((target) => readTarget(target, set[target] ?? null, scope))
}

const readTarget = (target: string, value: Json, scope: SetEntry['scope'] | undefined): SetEntry => {
  const segments = target.split('.').map((segment) => segment.trim())
  const [first] = segments
  const isScoped = isScope(first) && (scope === undefined || first === scope)
  const path = isScoped ? segments.slice(1) : segments
  const readOnly = scope === undefined && first !== undefined && READ_ONLY.has(first)
  if (readOnly || path.length === 0 || path.includes('')) throw configFailure(`set cannot write '${target}'`)
  return { target, scope: isScoped ? first : (scope ?? 'ctx'), path, value }
}

/** `current` with the value at the path; nothing is changed in place. */
export const withNested = (current: Json | undefined, path: readonly string[], value: Json): Json => {
  const [key, ...rest] = path
  if (key === undefined) return value
  const copy: Record<string, Json> = isObject(current) ? { ...current } : {}
  setMember(copy, key, withNested(Object.hasOwn(copy, key) ? copy[key] : undefined, rest, value))
  return copy
}
