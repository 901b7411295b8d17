/**
 * `set` mappings: target to value.
 *
 * 1. `ctx.a.b` is a nested path in ctx; a bare name is a ctx variable.
 * 2. `iter.*` exists only where an iteration does: in tasks and their policy.
 * 3. `workload`, `keychain` and `output` cannot be written; other dotted scopes do not exist.
 */
import type { ReadContext } from './context.ts'
import type { SetEntry } from './model.ts'
import { asMap, children, keyAt } from './reader.ts'
import type { Field } from './reader.ts'
import type { At } from './report.ts'
import { warnReservedName } from './names.ts'
import { didYouMean } from './suggest.ts'
import { toJson } from './yaml-tree.ts'

/** `flow`: a step or an arc, evaluated by the server. `task`: a tool or its policy, evaluated by the worker. */
export type SetLevel = 'flow' | 'task'

type Scope = SetEntry['scope']

const SCOPES: readonly Scope[] = ['ctx', 'iter', 'step']
const READ_ONLY = ['workload', 'keychain', 'output', 'event', 'steps', 'execution_id']

type Target =
  | { readonly scope: Scope; readonly path: readonly string[]; readonly advice?: string }
  | { readonly problem: string }

export const readSet = (field: Field | null, level: SetLevel, context: ReadContext): readonly SetEntry[] =>
  readEntries(field, (key) => parseTarget(key, level), context)

/** A mapping whose keys are names inside one scope: `vars`, `args` of an arc, `set_ctx`, `set_iter`. */
export const readSetIn = (scope: Scope, field: Field | null, context: ReadContext): readonly SetEntry[] =>
  readEntries(field, (key) => parseScoped(scope, key), context)

const readEntries = (
  field: Field | null,
  parse: (key: string) => Target,
  context: ReadContext,
): readonly SetEntry[] => {
  const map = asMap(field, context.report, '; write one "target: value" per line')
  if (map === null) return []
  const entries: SetEntry[] = []
  for (const [key, value] of children(map)) {
    context.templates.value(value)
    const target = parse(key)
    if ('problem' in target) {
      context.report.error(
        'SET_TARGET',
        keyAt(map, key),
        `'${map.label}' cannot write '${key}': ${target.problem}`,
      )
      continue
    }
    if (target.advice !== undefined) context.report.warn('set-scope', keyAt(map, key), target.advice)
    if (target.scope === 'ctx') defineVariable(target.path[0] ?? '', keyAt(map, key), context)
    entries.push({ scope: target.scope, path: target.path, value: toJson(value.node) })
  }
  return entries
}

const defineVariable = (name: string, at: At, context: ReadContext): void => {
  context.defined.add(name)
  warnReservedName('the variable', name, at, context)
}

const parseTarget = (key: string, level: SetLevel): Target => {
  const segments = key.split('.')
  const [first = '', ...rest] = segments
  const scope = SCOPES.find((each) => each === first)
  if (scope !== undefined && rest.length === 0) {
    return { problem: `it is a scope, not a variable; name one, as in ${scope}.total` }
  }
  if (scope === 'iter' && level === 'flow') {
    return { problem: 'there is no iteration here; write to ctx, or set it in the task' }
  }
  if (scope !== undefined) return pathOf(scope, rest)
  if (rest.length === 0) return pathOf('ctx', segments)
  if (READ_ONLY.includes(first)) return { problem: `${first} is read-only; write to ctx instead` }
  if (level === 'flow') {
    const scopes = ['ctx', 'step']
    return {
      problem: `the scope '${first}' does not exist; allowed are ${scopes.join(', ')}.${didYouMean(first, scopes)}`,
    }
  }
  // Inside a pipeline a dotted path means a place in the running context.
  const advice = `'${key}' has no scope and is written as ctx.${key}.${didYouMean(first, SCOPES)}`
  return { ...pathOf('ctx', segments), advice }
}

const parseScoped = (scope: Scope, key: string): Target => {
  const segments = key.split('.')
  return pathOf(scope, segments[0] === scope && segments.length > 1 ? segments.slice(1) : segments)
}

const pathOf = (scope: Scope, path: readonly string[]): Target =>
  path.some((segment) => segment.trim() === '')
    ? { problem: 'a part of the name is empty' }
    : { scope, path: path.map((segment) => segment.trim()) }
