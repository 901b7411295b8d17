/**
 * Writing variables: `set` of steps and arcs, what a worker exported, what somebody wrote from outside. Recorded as
 * ctx.updated, whole top-level values, so that folding an event twice changes nothing.
 */
import { EVENT } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type { SetEntry } from '../playbook/model.ts'
import { renderValue } from '../template/render.ts'
import type { Scope } from '../template/scope.ts'
import type { Reply, VariablesInput } from './input.ts'
import { accepted, refused } from './input.ts'
import { ResultNeeded } from './reference.ts'
import { plainOf } from './scope.ts'
import type { Session } from './session.ts'
import { emit, scopeOf } from './session.ts'
import { isTerminal } from './state.ts'

interface Write {
  readonly path: readonly string[]
  readonly value: Json
}

/** Renders all entries against one snapshot, then writes them together. */
export const applySet = (
  session: Session,
  step: string,
  source: string,
  entries: readonly SetEntry[],
  scope: Scope,
): void => {
  if (entries.length === 0) return
  const rendered = entries.map((entry) => ({ path: entry.path, value: renderEntry(entry, scope) }))
  writeVariables(session, step, source, rendered)
}

const renderEntry = ({ path, value }: SetEntry, scope: Scope): Json => {
  try {
    return renderValue(value, scope)
  } catch (error) {
    if (error instanceof ResultNeeded) throw error
    throw new Error(`set ${path.join('.')}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}

/** Applies what the worker wrote while it ran the command: bare and `ctx.` keys, dots nest. */
export const applyExports = (
  session: Session,
  step: string,
  context: JsonObject,
  data: Json | undefined,
): void => {
  const updates = exportsBeside(context) ?? (isObject(data) ? data['_context_updates'] : undefined)
  if (!isObject(updates)) return
  const writes = Object.keys(updates).flatMap((key): Write[] => {
    const path = key.split('.')
    if (path[0] === 'iter' || path[0] === 'step') return []
    return [
      { path: path[0] === 'ctx' && path.length > 1 ? path.slice(1) : path, value: updates[key] ?? null },
    ]
  })
  if (writes.length > 0) writeVariables(session, step, 'export', writes)
}

/** Exports beside the data, where they do not change what the data is. */
const exportsBeside = (context: JsonObject): Json | undefined => {
  const result = context['result']
  const inner = isObject(result) ? result['context'] : undefined
  return isObject(inner) ? inner['context_updates'] : undefined
}

/** Variables that come from outside the playbook. */
export const writeFromOutside = (session: Session, { values, source }: VariablesInput): Reply => {
  const { state } = session
  if (isTerminal(state))
    return refused('conflict', `Execution ${state.executionId} is already ${state.status}`)
  const writes = Object.keys(values).map((key) => ({ path: [key], value: values[key] ?? null }))
  return accepted(writeVariables(session, null, source, writes))
}

const writeVariables = (
  session: Session,
  step: string | null,
  source: string,
  writes: readonly Write[],
): string => {
  const values = new Map<string, Json>()
  for (const { path, value } of writes) {
    const [root = '', ...rest] = path
    const current =
      rest.length === 0 ? null : values.has(root) ? values.get(root) : visibleValue(session, root)
    values.set(root, withNested(current, rest, value))
  }
  return emit(session, {
    eventType: EVENT.contextUpdated,
    nodeName: step,
    status: 'CONTEXT',
    result: {
      status: 'CONTEXT',
      context: { step, gen: session.trigger, source, values: Object.fromEntries(values) },
    },
  }).eventId
}

/** What the name means now, in whatever layer: writing `ctx.config.b` keeps the other members of `config`. */
const visibleValue = (session: Session, name: string): Json => plainOf(scopeOf(session).lookup(name))

const withNested = (current: Json | undefined, path: readonly string[], value: Json): Json => {
  const [key, ...rest] = path
  if (key === undefined) return value
  const base: JsonObject = isObject(current) ? current : {}
  return { ...base, [key]: withNested(Object.hasOwn(base, key) ? base[key] : undefined, rest, value) }
}
