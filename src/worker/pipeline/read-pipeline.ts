/**
 * A pipeline as it travels, as a list of tasks. Items are `{label: {kind, …}}` or flat `{name, kind, …}`; an item
 * without a name is called `task_<position>`.
 */
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { collectTemplates } from '../../template/render.ts'
import { configFailure } from '../tool-failure.ts'
import { isArgsInput } from '../tool-input.ts'
import { readRules, type Rule } from './read-rules.ts'
import { readSet, type SetEntry } from './writes.ts'

export interface Task {
  readonly label: string
  readonly kind: string
  /** Not rendered: a mapping, or a template that gives one. */
  readonly input: Json | undefined
  /** The rest of the tool block, not rendered. */
  readonly config: JsonObject
  /** Top-level fields of the block that contain templates. */
  readonly templated: readonly string[]
  readonly set: readonly SetEntry[]
  readonly rules: readonly Rule[]
}

/** The credential belongs to the command as a whole, so its name was settled before the pipeline began. */
const SETTLED_FIELDS: ReadonlySet<string> = new Set(['auth', 'credential'])

export const readPipeline = (toolConfig: Json): readonly Task[] => {
  const items = isObject(toolConfig) ? toolConfig['tasks'] : toolConfig
  if (!Array.isArray(items)) throw configFailure('A pipeline must be a list of tasks')
  return (items as readonly Json[]).map(readItem)
}

const readItem = (item: Json, position: number): Task => {
  const unnamed = `task_${position}`
  if (!isObject(item)) throw configFailure(`The task ${unnamed} must be a mapping`)
  if (typeof item['kind'] === 'string') {
    const { name, ...block } = item
    return readTask(typeof name === 'string' && name !== '' ? name : unnamed, item['kind'], block)
  }
  const [label, ...others] = Object.keys(item)
  const block = label === undefined ? null : (item[label] ?? null)
  if (label === undefined || others.length > 0 || !isObject(block)) {
    throw configFailure(`The task ${unnamed} must have a kind`)
  }
  const { kind } = block
  if (typeof kind !== 'string') throw configFailure(`The task '${label}' has no kind`)
  return readTask(label, kind, block)
}

const readTask = (label: string, kind: string, block: JsonObject): Task => {
  const { kind: _kind, input, args, set, spec, ...others } = block
  const isInput = isArgsInput(kind)
  const left = specWithoutPolicy(spec)
  const config: JsonObject = {
    ...others,
    ...(isInput || args === undefined ? {} : { args }),
    ...(left === null ? {} : { spec: left }),
  }
  const templated = Object.keys(config).filter(
    (field) => !SETTLED_FIELDS.has(field) && collectTemplates(config[field] ?? null).length > 0,
  )
  return {
    label,
    kind,
    input: input ?? (isInput ? args : undefined),
    config,
    templated,
    set: readSet(set),
    rules: readRules(spec),
  }
}

const specWithoutPolicy = (spec: Json | undefined): JsonObject | null => {
  if (!isObject(spec)) return null
  const { policy: _policy, ...left } = spec
  return Object.keys(left).length === 0 ? null : left
}
