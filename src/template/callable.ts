/**
 * How filters, tests, functions and methods are declared, and how the arguments of a call are matched to them.
 *
 * 1. Arguments are matched when the template is compiled: a wrong name or number of arguments is a syntax error, and
 *    a call costs nothing for it.
 * 2. An argument that is not given is undefined.
 */
import { hint } from './suggest.ts'
import type { Frame } from './frame.ts'
import type { Value } from './values.ts'

/** The arguments of a call to something that takes any number of them. */
export interface FreeArguments {
  readonly positional: readonly Value[]
  readonly named: ReadonlyMap<string, Value>
}

export interface FixedCallable {
  readonly parameters: readonly string[]
  /** How many of the parameters must be given. */
  readonly required: number
  readonly apply: (frame: Frame, input: Value, ...args: Value[]) => Value
}

export interface FreeCallable {
  readonly parameters: undefined
  /** Names that may be given by name; undefined allows all. */
  readonly named: readonly string[] | undefined
  /** At least this many arguments without a name. */
  readonly required: number
  /** The kind of name that the argument at this position must be. */
  readonly refersTo?: { readonly position: number; readonly kind: 'filter' | 'test' }
  readonly apply: (frame: Frame, input: Value, args: FreeArguments) => Value
}

export type Callable = FixedCallable | FreeCallable

export type Callables = ReadonlyMap<string, Callable>

/** Something with optional parameters only. */
export const optional = (parameters: string, apply: FixedCallable['apply']): FixedCallable => ({
  parameters: parameters === '' ? [] : parameters.split(' '),
  required: 0,
  apply,
})

/** Something whose first `required` parameters must be given. */
export const requiring = (
  required: number,
  parameters: string,
  apply: FixedCallable['apply'],
): FixedCallable => ({ parameters: parameters.split(' '), required, apply })

export interface GivenArguments {
  readonly positionalCount: number
  readonly names: readonly string[]
}

const count = (number: number): string => (number === 1 ? '1 argument' : `${number} arguments`)

const fixedProblem = (label: string, callable: FixedCallable, given: GivenArguments): string | undefined => {
  const { parameters, required } = callable
  if (given.positionalCount > parameters.length) {
    return `${label} takes ${parameters.length === 0 ? 'no arguments' : `at most ${count(parameters.length)}`}`
  }
  for (const name of given.names) {
    const position = parameters.indexOf(name)
    if (position === -1) return `${label} has no argument '${name}'${hint(name, parameters)}`
    if (position < given.positionalCount) return `argument '${name}' of ${label} is given twice`
  }
  const missing = parameters
    .slice(given.positionalCount, required)
    .find((parameter) => !given.names.includes(parameter))
  return missing === undefined ? undefined : `${label} needs the argument '${missing}'`
}

/** What is wrong with a call; undefined when it fits. */
export const callProblem = (label: string, callable: Callable, given: GivenArguments): string | undefined => {
  if (callable.parameters !== undefined) return fixedProblem(label, callable, given)
  if (given.positionalCount < callable.required) return `${label} needs at least ${count(callable.required)}`
  const allowed = callable.named
  const stray = allowed === undefined ? undefined : given.names.find((name) => !allowed.includes(name))
  return stray === undefined ? undefined : `${label} has no argument '${stray}'${hint(stray, allowed ?? [])}`
}
