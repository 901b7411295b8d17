/** Writing variables: `set` of steps and arcs, and what a worker exported. Recorded as ctx.updated. */
import { EVENT } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type { SetEntry } from '../playbook/model.ts'
import { renderValue } from '../template/render.ts'
import type { Scope } from '../template/scope.ts'
import type { Session } from './session.ts'
import { emit } from './session.ts'

/** Renders all entries against one snapshot, then writes them together. */
export const applySet = (session: Session, step: string, source: string, entries: readonly SetEntry[], scope: Scope): void => {
  if (entries.length === 0) return
  const rendered = entries.map((entry) => ({ path: entry.path, value: renderEntry(entry, scope) }))
  writeVariables(session, step, source, rendered)
}

const renderEntry = ({ path, value }: SetEntry, scope: Scope): Json => {
  try {
    return renderValue(value, scope)
  } catch (error) {
    throw new Error(`set ${path.join('.')}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/** Applies `_context_updates` of a worker's data: bare and `ctx.` keys, dots nest. */
export const applyExports = (session: Session, step: string, data: Json | undefined): void => {
  const updates = isObject(data) ? data['_context_updates'] : undefined
  if (!isObject(updates)) return
  const writes = Object.keys(updates).flatMap((key) => {
    const path = key.split('.')
    if (path[0] === 'iter' || path[0] === 'step') return []
    return [{ path: path[0] === 'ctx' && path.length > 1 ? path.slice(1) : path, value: updates[key] ?? null }]
  })
  if (writes.length > 0) writeVariables(session, step, 'export', writes)
}

interface Write {
  readonly path: readonly string[]
  readonly value: Json
}

const writeVariables = (session: Session, step: string, source: string, writes: readonly Write[]): void => {
  const { vars } = session.state
  const values = new Map<string, Json>()
  for (const { path, value } of writes) {
    const [root = '', ...rest] = path
    const written = Object.hasOwn(vars, root) ? vars[root] : undefined
    values.set(root, withNested(values.has(root) ? values.get(root) : written, rest, value))
  }
  emit(session, {
    eventType: EVENT.contextUpdated,
    nodeName: step,
    status: 'CONTEXT',
    result: { status: 'CONTEXT', context: { step, gen: session.trigger, source, values: Object.fromEntries(values) } },
  })
}

const withNested = (current: Json | undefined, path: readonly string[], value: Json): Json => {
  const [key, ...rest] = path
  if (key === undefined) return value
  const base: JsonObject = isObject(current) ? current : {}
  return { ...base, [key]: withNested(Object.hasOwn(base, key) ? base[key] : undefined, rest, value) }
}
