/**
 * Calls of filters, tests, functions and methods to closures.
 *
 * 1. Unknown names and arguments that do not fit are syntax errors, with the closest known name.
 * 2. Which method a call means depends on the type of the value; a call is refused only when it fits none of them.
 */
import { callProblem, type Callable, type Callables, type GivenArguments } from './callable.ts'
import { fault, TemplateSyntaxError } from './errors.ts'
import { FILTERS } from './filters/filters.ts'
import type { Evaluate, Frame } from './frame.ts'
import { FUNCTIONS } from './functions.ts'
import { charge } from './limits.ts'
import { METHOD_NAMES, methodOf, methodsNamed } from './methods.ts'
import { hint } from './suggest.ts'
import type { Arguments, Expression } from './syntax-tree.ts'
import { TESTS } from './tests.ts'
import { kindOf, type Value } from './values.ts'

export interface Compilation {
  readonly source: string
  /** Names that the template binds somewhere; all others come straight from the scope. */
  readonly bound: ReadonlySet<string>
}

type CompileExpression = (compilation: Compilation, expression: Expression) => Evaluate
type Invoke = (frame: Frame, input: Value) => Value

const TABLES: Readonly<Record<'filter' | 'test' | 'function', Callables>> = {
  filter: FILTERS,
  test: TESTS,
  function: FUNCTIONS,
}

const givenArguments = (args: Arguments, from = 0): GivenArguments => ({
  positionalCount: Math.max(0, args.positional.length - from),
  names: args.named.map((one) => one.name),
})

const lookUp = (
  compilation: Compilation,
  kind: 'filter' | 'test' | 'function',
  name: string,
  offset: number,
): Callable => {
  const found = TABLES[kind].get(name)
  if (found !== undefined) return found
  throw new TemplateSyntaxError(
    `unknown ${kind} '${name}'${hint(name, TABLES[kind].keys())}`,
    compilation.source,
    offset,
  )
}

/** `map('upper')`: the filter or test named by an argument is checked as well when it is written out. */
const checkReferred = (compilation: Compilation, callable: Callable, args: Arguments): void => {
  if (callable.parameters !== undefined || callable.refersTo === undefined) return
  const { kind, position } = callable.refersTo
  const named = args.positional[position]
  if (named?.kind !== 'literal' || typeof named.value !== 'string') return
  const referred = lookUp(compilation, kind, named.value, named.offset)
  const problem = callProblem(`${kind} '${named.value}'`, referred, givenArguments(args, position + 1))
  if (problem !== undefined) throw new TemplateSyntaxError(problem, compilation.source, named.offset)
}

/** Matches the arguments to the parameters once; the result only evaluates and applies. */
const bindArguments = (
  compilation: Compilation,
  callable: Callable,
  args: Arguments,
  offset: number,
  compile: CompileExpression,
): Invoke => {
  const positional = args.positional.map((one) => compile(compilation, one))
  const named = args.named.map((one) => [one.name, compile(compilation, one.value)] as const)
  if (callable.parameters === undefined) {
    const { apply } = callable
    return (frame, input) => {
      const values = positional.map((evaluate) => evaluate(frame))
      const names = new Map(named.map(([name, evaluate]) => [name, evaluate(frame)]))
      frame.at = offset
      charge(frame, 1)
      return apply(frame, input, { positional: values, named: names })
    }
  }
  const { apply, parameters } = callable
  const slots: (Evaluate | undefined)[] = [...positional]
  for (const [name, evaluate] of named) slots[parameters.indexOf(name)] = evaluate
  const [only] = slots
  if (slots.length === 0) {
    return (frame, input) => {
      frame.at = offset
      charge(frame, 1)
      return apply(frame, input)
    }
  }
  if (slots.length === 1 && only !== undefined) {
    return (frame, input) => {
      const value = only(frame)
      frame.at = offset
      charge(frame, 1)
      return apply(frame, input, value)
    }
  }
  // Array.from also visits the slots that were skipped over.
  const filled = Array.from(slots)
  return (frame, input) => {
    const values = filled.map((evaluate) => evaluate?.(frame))
    frame.at = offset
    charge(frame, 1)
    return apply(frame, input, ...values)
  }
}

export const compileCall = (
  compilation: Compilation,
  kind: 'filter' | 'test' | 'function',
  call: { readonly name: string; readonly args: Arguments; readonly offset: number },
  compile: CompileExpression,
): Invoke => {
  const callable = lookUp(compilation, kind, call.name, call.offset)
  const problem = callProblem(`${kind} '${call.name}'`, callable, givenArguments(call.args))
  if (problem !== undefined) throw new TemplateSyntaxError(problem, compilation.source, call.offset)
  checkReferred(compilation, callable, call.args)
  return bindArguments(compilation, callable, call.args, call.offset, compile)
}

export const compileMethod = (
  compilation: Compilation,
  call: { readonly name: string; readonly args: Arguments; readonly offset: number },
  compile: CompileExpression,
): Invoke => {
  const { name, args, offset } = call
  const invokes = new Map<Callable, Invoke>()
  let refusal: string | undefined
  for (const candidate of methodsNamed(name)) {
    const problem = callProblem(`method '${name}'`, candidate, givenArguments(args))
    if (problem === undefined)
      invokes.set(candidate, bindArguments(compilation, candidate, args, offset, compile))
    else refusal = problem
  }
  if (invokes.size === 0) {
    const message = refusal ?? `unknown method '${name}'${hint(name, METHOD_NAMES)}`
    throw new TemplateSyntaxError(message, compilation.source, offset)
  }
  return (frame, input) => {
    // A call on something undefined is undefined, as its members are.
    if (input === undefined) return undefined
    const method = methodOf(input, name)
    frame.at = offset
    if (method === undefined) return fault(`a ${kindOf(input)} has no method '${name}'`)
    const invoke = invokes.get(method)
    return invoke === undefined
      ? fault(`method '${name}' of a ${kindOf(input)}: ${refusal}`)
      : invoke(frame, input)
  }
}
