/**
 * What a pipeline knows while it runs, and the scope in which its templates are rendered. Highest first: the names of
 * the moment (`output`, `_attempt`, `_task`, `_prev`), the facts of the command, the input of the task, variables
 * written here, data of tasks by label, the variables that came with the command.
 *
 * 1. There is one scope for the whole run and nothing is copied for a task: rendering never overlaps with writing.
 * 2. Data never becomes a template: it is stored as it came and only read by name.
 * 3. `_prev` is the data of the task that was left last, so a retried task reads what it read before.
 */
import type { LeasedCommand } from '../../contract/command.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { dataView } from '../../engine/view.ts'
import { type Scope, VIEW } from '../../template/scope.ts'
import { setMember } from '../../template/values.ts'
import { type CommandNames, contextView, inputName, own } from '../command-scope.ts'
import { type SetEntry, withNested } from './writes.ts'

export interface RunningContext {
  readonly scope: Scope
  /** A task begins: its input is not known yet, and there is no output. */
  enter(label: string, attempt: number): void
  /** `declared` is what the author wrote; `input` is what the tool gets. */
  useInput(declared: JsonObject, input: JsonObject): void
  /** What `output` is from now on. */
  show(output: unknown): void
  /** Stores the data of the task under way. */
  record(data: Json): void
  /** The task under way is left for another one. */
  leave(): void
  write(entry: SetEntry, value: Json): void
  /** All variables as plain data, for code that asks for them. */
  plain(): JsonObject
  /** Label to data, in order of the last run. */
  results(): JsonObject
  /** Variables written for the rest of the execution; null when there are none. */
  exports(): JsonObject | null
}

export interface RunningContextOptions {
  readonly command: LeasedCommand
  readonly names: CommandNames
  readonly now: () => string
  readonly uuid: () => string
}

/** The task under way. */
interface Moment {
  label: string
  attempt: number
  declared: JsonObject | null
  input: JsonObject
  /** Undefined until the tool has answered. */
  output: unknown
}

const NOTHING: JsonObject = {}

const toObject = (entries: ReadonlyMap<string, Json>): JsonObject => {
  const object: Record<string, Json> = {}
  for (const [key, value] of entries) setMember(object, key, value)
  return object
}

export const createRunningContext = (options: RunningContextOptions): RunningContext => {
  const { command, names } = options
  const moment: Moment = { label: '', attempt: 1, declared: null, input: NOTHING, output: undefined }
  const data = new Map<string, Json>()
  const views = new Map<string, unknown>()
  const written = new Map<string, Json>()
  const exported = new Map<string, Json>()
  let previous: unknown = null
  let iter = names.variable('iter')
  let stepName: unknown = command.step
  let stepVariables: JsonObject = NOTHING

  const variable = (name: string): unknown => {
    const value = written.get(name)
    if (value !== undefined) return value
    return views.has(name) ? views.get(name) : names.variable(name)
  }

  const plain = (): JsonObject => ({
    ...names.plain(),
    ...toObject(data),
    ...toObject(written),
    ...(iter === undefined ? {} : { iter: iter as Json }),
  })
  const context = contextView(names, variable, plain)

  /** Undefined when the name does not belong to the moment. */
  const momentName = (name: string): unknown => {
    switch (name) {
      case 'output':
      case 'outcome':
        return moment.output
      case '_attempt':
        return moment.attempt
      case '_task':
        return moment.label
      case '_prev':
        return previous
      case 'ctx':
        return context
      case 'iter':
        return iter
      case 'step':
        return stepName
      default:
        return undefined
    }
  }

  const lookup = (name: string): unknown => {
    const found = momentName(name)
    if (found !== undefined) return found
    const fact = names.fact(name)
    if (fact !== undefined) return fact
    const given = moment.declared === null ? undefined : inputName(moment.declared, moment.input, name)
    if (given !== undefined) return given
    const value = variable(name)
    if (value !== undefined) return value
    return name === 'results' ? toObject(data) : names.fallback(name)
  }

  const currentValue = (name: string): Json | undefined =>
    written.get(name) ?? data.get(name) ?? own(names.plain(), name)

  const writeVariable = (path: readonly string[], value: Json): void => {
    const [root = '', ...rest] = path
    written.set(root, rest.length === 0 ? value : withNested(currentValue(root), rest, value))
    // Readers apply exports in order, so a new value comes last, and whatever it replaces is dropped.
    const key = path.join('.')
    for (const known of exported.keys()) {
      if (known === key || known.startsWith(`${key}.`)) exported.delete(known)
    }
    exported.set(key, value)
  }

  const writeStep = (path: readonly string[], value: Json): void => {
    stepVariables = withNested(stepVariables, path, value) as JsonObject
    // `step` alone stays the name of the step.
    stepName = { [VIEW]: true, plain: () => command.step, get: (key: string) => own(stepVariables, key) }
  }

  return {
    scope: {
      lookup,
      get now() {
        return options.now()
      },
      uuid: options.uuid,
    },
    enter(label, attempt) {
      moment.label = label
      moment.attempt = attempt
      moment.declared = null
      moment.output = undefined
    },
    useInput(declared, input) {
      moment.declared = declared
      moment.input = input
    },
    show(output) {
      moment.output = output
    },
    record(taskData) {
      const { label } = moment
      // Deleted first, so that the order is that of the last runs.
      data.delete(label)
      data.set(label, taskData)
      views.set(label, dataView(taskData))
    },
    leave() {
      previous = views.get(moment.label)
    },
    write({ scope, path }, value) {
      if (scope === 'ctx') writeVariable(path, value)
      else if (scope === 'step') writeStep(path, value)
      else iter = withNested(isObject(iter) ? iter : undefined, path, value)
    },
    plain,
    results: () => toObject(data),
    exports: () => (exported.size === 0 ? null : toObject(exported)),
  }
}
