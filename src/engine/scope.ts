/**
 * The names a template sees on the server, highest first: the names of the moment (`output`, `event`,
 * iteration variables), the protected names of the execution, variables written by `set`, step results,
 * workload keys, then `path` and `version`. Nothing is copied: each name is looked up when it is read.
 */
import type { Json, JsonObject } from '../contract/json.ts'
import type { Scope, View } from '../template/scope.ts'
import { isView, VIEW } from '../template/scope.ts'
import type { Graph } from './graph.ts'
import type { Resolve } from './reference.ts'
import type { State } from './state.ts'
import { envelopeOf, stepView } from './view.ts'

export type Locals = Readonly<Record<string, unknown>>

export interface ScopeOptions {
  readonly now: string
  readonly uuid: () => string
  readonly resolve: Resolve
  readonly locals?: Locals
}

const NO_LOCALS: Locals = {}

export const createScope = (
  graph: Graph,
  state: State,
  { now, uuid, resolve, locals = NO_LOCALS }: ScopeOptions,
): Scope => {
  const variable = (name: string): unknown => {
    if (Object.hasOwn(locals, name)) return locals[name]
    if (name === 'execution_id') return state.executionId
    if (name === 'catalog_id') return state.catalogId
    if (name === 'job')
      return { uuid: state.executionId, id: state.executionId, execution_id: state.executionId }
    if (Object.hasOwn(state.vars, name)) return state.vars[name]
    const result = stepResult(graph, state, resolve, name)
    if (result !== undefined) return result
    if (Object.hasOwn(state.workload, name)) return state.workload[name]
    if (name === 'path') return state.path
    if (name === 'version') return state.playbookVersion ?? undefined
    if (name === 'parent_execution_id') return state.parentExecutionId
    return undefined
  }
  const context: View = {
    [VIEW]: true,
    get: variable,
    plain: () => wholeContext(graph, state, resolve, locals),
  }
  return {
    now,
    uuid,
    lookup: (name) => {
      if (name === 'workload') return state.workload
      if (name === 'ctx') return context
      if (name === 'steps') return stepsView(state, resolve)
      return variable(name)
    },
  }
}

const stepResult = (graph: Graph, state: State, resolve: Resolve, name: string): unknown => {
  const step = state.steps.get(name)
  return step?.data === undefined
    ? undefined
    : stepView(step, graph.step(name).body.kind === 'pipeline', resolve)
}

const stepsView = (state: State, resolve: Resolve): View => ({
  [VIEW]: true,
  get: (name) => {
    const step = state.steps.get(name)
    return step?.data === undefined ? undefined : envelopeOf(step, resolve)
  },
  plain: () => {
    const all: Record<string, Json> = {}
    for (const [name, step] of state.steps) if (step.data !== undefined) all[name] = envelopeOf(step, resolve)
    return all
  },
})

/** Every variable by name, as plain data: what `{{ ctx }}` is, and what code that asks for the context gets. */
export const wholeContext = (
  graph: Graph,
  state: State,
  resolve: Resolve,
  locals: Locals = NO_LOCALS,
): JsonObject => {
  const results = [...state.steps.keys()].flatMap((name): [string, Json][] => {
    const value = stepResult(graph, state, resolve, name)
    return value === undefined ? [] : [[name, plainOf(value)]]
  })
  return {
    path: state.path,
    ...state.workload,
    ...Object.fromEntries(results),
    ...state.vars,
    ...Object.fromEntries(Object.keys(locals).map((name) => [name, plainOf(locals[name])])),
    execution_id: state.executionId,
    catalog_id: state.catalogId,
  }
}

export const plainOf = (value: unknown): Json =>
  isView(value) ? value.plain() : ((value as Json | undefined) ?? null)
