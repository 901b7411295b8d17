/**
 * How results look to templates. Views answer member access over the stored data without copying it; taken
 * whole they are the data itself, without any of the conveniences.
 *
 * 1. `.data`, `.result` and `.context` of a mapping without such a key are the mapping itself.
 * 2. A loop's value acts as its list of results: index, iteration, length, `.data`.
 * 3. A pipeline's value has its labels first, then every key of every task's data, later tasks winning.
 */
import type { ToolError } from '../contract/command.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type { View } from '../template/scope.ts'
import { isView, VIEW } from '../template/scope.ts'
import type { Resolve } from './reference.ts'
import { referenceOf, referenceView, wholeData } from './reference.ts'
import type { StepState } from './state.ts'

const SELF_NAMES = new Set(['data', 'result', 'context'])
const OUTPUT_NAMES = new Set(['data', 'result', 'response'])

const own = (data: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(data, key) ? data[key] : undefined

/** Data of a step or task; anything but a mapping is its own view. */
export const dataView = (data: Json): unknown => {
  if (!isObject(data)) return data
  const view: View = {
    [VIEW]: true,
    plain: () => data,
    get: (key) => {
      const value = own(data, key)
      return value === undefined && SELF_NAMES.has(key) ? view : value
    },
  }
  return view
}

/** Data of a loop step, `{results, stats}`. */
export const loopView = (data: JsonObject): unknown => {
  const results = (data['results'] ?? []) as readonly Json[]
  const view: View = {
    [VIEW]: true,
    plain: () => data,
    sequence: () => results,
    get: (key) => (key === 'data' ? results : (own(data, key) ?? (SELF_NAMES.has(key) ? view : undefined))),
  }
  return view
}

/** Data of a pipeline step: label -> data of that task. */
export const pipelineView = (data: JsonObject): unknown => {
  const labels = Object.keys(data).filter((key) => key !== '_context_updates' && key !== '_failed_task')
  const find = (key: string): unknown => {
    if (Object.hasOwn(data, key) && key !== '_context_updates') return dataView(data[key] ?? null)
    for (const label of labels.toReversed()) {
      const task = data[label]
      if (isObject(task) && Object.hasOwn(task, key)) return task[key]
    }
    return undefined
  }
  const byLabel = (): JsonObject => Object.fromEntries(labels.map((label) => [label, data[label] ?? null]))
  const view: View = {
    [VIEW]: true,
    plain: () => {
      const merged: Record<string, Json> = {}
      for (const label of labels) if (isObject(data[label])) Object.assign(merged, data[label])
      return { ...merged, ...byLabel() }
    },
    get: (key) => {
      const value = find(key)
      if (value !== undefined) return value
      if (key === 'results') return byLabel()
      return SELF_NAMES.has(key) ? view : undefined
    },
  }
  return view
}

export const stepView = (step: StepState, isPipeline: boolean, resolve: Resolve): unknown => {
  const { data } = step
  if (data === undefined) return undefined
  if (step.looped && isObject(data)) return loopView(data)
  const viewOf = (value: Json): unknown =>
    isPipeline && isObject(value) ? pipelineView(value) : dataView(value)
  return isObject(data) && referenceOf(data) !== null ? referenceView(data, resolve, viewOf) : viewOf(data)
}

/** `output` where arcs and step-level `set` are evaluated: the step's value with its verdict. */
export const outputView = (step: StepState, value: unknown): View => {
  const failed = step.outcome === 'error'
  const inner = isView(value) ? value : null
  const results = inner?.sequence?.()
  const member = (key: string): unknown => inner?.get?.(key)
  const plain = (): Json => inner?.plain() ?? (value as Json | undefined) ?? null
  const verdict = (): unknown => (failed ? 'error' : (member('status') ?? 'success'))
  return {
    [VIEW]: true,
    plain,
    ...(results ? { sequence: () => results } : {}),
    get: (key) => {
      if (key === 'status') return verdict()
      if (key === 'error') return failed ? errorValue(step.error) : (member('error') ?? null)
      const found = member(key)
      if (key === 'data' && inner && isObject(found) && !isView(found)) return partView(found, inner)
      return found === undefined && OUTPUT_NAMES.has(key) ? (value ?? null) : found
    },
  }
}

/**
 * `output.data` of data that has a key `data` of its own, as the answer of an http request has: that part, and what it
 * lacks the whole has, so that `output.data.status_code` means in arcs what it means in policy rules.
 */
const partView = (part: JsonObject, whole: View): View => ({
  [VIEW]: true,
  plain: () => part,
  get: (key) => (Object.hasOwn(part, key) ? part[key] : whole.get?.(key)),
})

export const errorValue = (error: ToolError | null): Json =>
  error
    ? { ...error, status: error.http_status ?? null }
    : { kind: 'unknown', code: 'UNKNOWN', message: 'failed', retryable: false }

const DONE_NAMES = new Set(['step.done', 'step.exit'])

/** `event.name`, which also equals the other words that guards use for the same moment. */
export const eventName = (name: 'call.done' | 'loop.done' | 'call.error' | 'step.skipped'): View => ({
  [VIEW]: true,
  plain: () => name,
  equals: (other) =>
    other === name ||
    ((name === 'call.done' || name === 'loop.done') && typeof other === 'string' && DONE_NAMES.has(other)) ||
    (name === 'call.error' && other === 'step.failed'),
})

/** The stored envelope, behind `steps.<name>`. */
export const envelopeOf = (step: StepState, resolve: Resolve): Json => {
  const failed = step.outcome === 'error'
  const inner = {
    status: failed ? 'error' : 'success',
    data: wholeData(step.data ?? null, resolve),
    ...(failed ? { error: errorValue(step.error) } : {}),
  }
  return {
    status: failed ? 'FAILED' : 'COMPLETED',
    context: { result: { status: inner.status, context: inner } },
  }
}
