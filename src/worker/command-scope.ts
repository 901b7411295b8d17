/**
 * What the late templates of a command can see, highest first: the facts of the command, the input of the tool, the
 * variables (those of the iteration before those of the execution), and last the names that anything may hide.
 *
 * 1. `ctx.x` and a bare `x` read the same variables; the input of a tool is not among them.
 * 2. A null is a value: it hides what is below it.
 * 3. `keychain` is a fact: no variable can stand in for a secret.
 */
import type { LeasedCommand } from '../contract/command.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { type Scope, VIEW, type View } from '../template/scope.ts'
import { iterationNames } from './iteration.ts'
import { createVariableView } from './variable-view.ts'

/** The names that come with a command, whatever it runs. Undefined means that there is no such name. */
export interface CommandNames {
  /** Nothing hides these. */
  readonly fact: (name: string) => unknown
  readonly variable: (name: string) => unknown
  /** Anything hides these. */
  readonly fallback: (name: string) => unknown
  /** All variables as plain data. */
  readonly plain: () => JsonObject
}

export const own = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined

/** What `ctx` shows besides the variables; they cannot be hidden there either. */
const EXECUTION_FACTS: ReadonlySet<string> = new Set(['execution_id', 'catalog_id', 'job'])

const factsOf = (command: LeasedCommand, workerId: string): JsonObject => {
  const { executionId } = command
  return {
    execution_id: executionId,
    catalog_id: command.catalogId,
    command_id: command.commandId,
    step: command.step,
    worker_id: workerId,
    job: { uuid: executionId, id: executionId, execution_id: executionId },
  }
}

/** `keychain` is there only for a command that has secrets looked up. */
export const commandNames = (command: LeasedCommand, workerId: string, keychain?: View): CommandNames => {
  const variables = command.context.render_context
  const facts = factsOf(command, workerId)
  const view = createVariableView(command)
  const iteration = iterationNames(command) ?? {}
  // A command brings the workload only when its templates name it; its keys are among the variables in any case.
  const workload: View = { [VIEW]: true, plain: () => variables, get: (name) => own(variables, name) }
  const fallbacks: Readonly<Record<string, unknown>> = {
    workload,
    node_name: command.step,
    action: command.toolKind,
  }
  return {
    fact: (name) => (name === 'keychain' && keychain !== undefined ? keychain : own(facts, name)),
    variable(name) {
      const value = Object.hasOwn(variables, name) ? variables[name] : own(iteration, name)
      return value === undefined ? undefined : view(name, value)
    },
    fallback: (name) => (Object.hasOwn(fallbacks, name) ? fallbacks[name] : undefined),
    plain: () => ({ ...iteration, ...variables }),
  }
}

/** `ctx`: asks for one variable at a time instead of holding a copy. */
export const contextView = (
  names: CommandNames,
  variable: (name: string) => unknown,
  plain: () => JsonObject,
): View => ({
  [VIEW]: true,
  plain,
  get: (name) => (EXECUTION_FACTS.has(name) ? names.fact(name) : undefined) ?? variable(name),
})

export interface CommandScopeOptions {
  readonly names: CommandNames
  /** Rendered input; null while the input itself is being rendered. */
  readonly input: JsonObject | null
  readonly now: string
  readonly uuid: () => string
}

export const commandScope = ({ names, input, now, uuid }: CommandScopeOptions): Scope => {
  const context = contextView(names, names.variable, names.plain)
  return {
    now,
    uuid,
    lookup(name) {
      if (name === 'ctx') return context
      const found = names.fact(name) ?? (input === null ? undefined : inputName(input, input, name))
      if (found !== undefined) return found
      const variable = names.variable(name)
      return variable === undefined ? names.fallback(name) : variable
    },
  }
}

/** A bare name among the input, or the input as a whole. An input without entries hides nothing. */
export const inputName = (named: JsonObject, whole: JsonObject, name: string): unknown => {
  const value = own(named, name)
  if (value !== undefined || (name !== 'input' && name !== 'args')) return value
  for (const key in named) if (Object.hasOwn(named, key)) return whole
  return undefined
}
