/**
 * A pipeline as it travels, as a list of tasks. Items are `{label: {kind, …}}` or flat `{name, kind, …}`; an item
 * without a name is called `task_<position>`.
 */
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { collectTemplates } from '../../template/render.ts'
import { keychainUse } from '../credentials/keychain.ts'
import type { JsonPath } from '../late-templates.ts'
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
  /** Names that its templates and rules read from the keychain. */
  readonly keychain: readonly string[]
  readonly set: readonly SetEntry[]
  readonly rules: readonly Rule[]
}

/**
 * The name of the credential was settled before the pipeline began: what looks like a template in it may be somebody's
 * data. Only a credential written out with secrets is left to the worker, and the command says so.
 */
const SETTLED_FIELDS: ReadonlySet<string> = new Set(['auth', 'credential'])

export const readPipeline = (toolConfig: Json, late: readonly JsonPath[] = []): readonly Task[] => {
  const items = isObject(toolConfig) ? toolConfig['tasks'] : toolConfig
  if (!Array.isArray(items)) throw configFailure('A pipeline must be a list of tasks')
  return (items as readonly Json[]).map((item, position) =>
    readItem(
      item,
      position,
      late.filter(([index]) => index === position).map((path) => path.slice(1)),
    ),
  )
}

/** `late` is relative to the item. */
const readItem = (item: Json, position: number, late: readonly JsonPath[]): Task => {
  const unnamed = `task_${position}`
  if (!isObject(item)) throw configFailure(`The task ${unnamed} must be a mapping`)
  if (typeof item['kind'] === 'string') {
    const { name, ...block } = item
    return readTask(typeof name === 'string' && name !== '' ? name : unnamed, item['kind'], block, late)
  }
  const [label, ...others] = Object.keys(item)
  const block = label === undefined ? null : (item[label] ?? null)
  if (label === undefined || others.length > 0 || !isObject(block)) {
    throw configFailure(`The task ${unnamed} must have a kind`)
  }
  const { kind } = block
  if (typeof kind !== 'string') throw configFailure(`The task '${label}' has no kind`)
  return readTask(
    label,
    kind,
    block,
    late.map((path) => path.slice(1)),
  )
}

const readTask = (label: string, kind: string, block: JsonObject, late: readonly JsonPath[]): Task => {
  const { kind: _kind, input, args, set, spec, ...others } = block
  const isInput = isArgsInput(kind)
  const left = specWithoutPolicy(spec)
  const config: JsonObject = {
    ...others,
    ...(isInput || args === undefined ? {} : { args }),
    ...(left === null ? {} : { spec: left }),
  }
  const templated = Object.keys(config).filter(
    (field) =>
      (!SETTLED_FIELDS.has(field) || late.some(([name]) => name === field)) &&
      collectTemplates(config[field] ?? null).length > 0,
  )
  const rules = readRules(spec)
  const task = {
    label,
    kind,
    input: input ?? (isInput ? args : undefined),
    config,
    templated,
    set: readSet(set),
    rules,
  }
  return { ...task, keychain: keychainNames(task) }
}

const keychainNames = ({
  input,
  config,
  templated,
  set,
  rules,
}: Omit<Task, 'keychain'>): readonly string[] => {
  const conditions = rules.map(({ when }) => when).filter((when) => typeof when === 'string')
  const values = [
    input ?? null,
    ...templated.map((field) => config[field] ?? null),
    ...[...set, ...rules.flatMap((rule) => rule.set)].map(({ value }) => value),
    ...rules.flatMap(({ attempts, delay }) => [attempts, delay]),
  ]
  return keychainUse(values, conditions).aliases
}

const specWithoutPolicy = (spec: Json | undefined): JsonObject | null => {
  if (!isObject(spec)) return null
  const { policy: _policy, ...left } = spec
  return Object.keys(left).length === 0 ? null : left
}
