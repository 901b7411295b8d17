/** Filters that apply another filter or a test, named by their first arguments, to every element. */
import type { Callable, Callables, FixedCallable, FreeArguments, FreeCallable } from '../callable.ts'
import { callProblem } from '../callable.ts'
import { fault } from '../errors.ts'
import type { Frame } from '../frame.ts'
import { charge } from '../limits.ts'
import { elementsOf } from '../sequences.ts'
import { hint } from '../suggest.ts'
import { isTrue, itemByPath, type Value } from '../values.ts'

type Apply = (frame: Frame, value: Value) => Value

const NO_NAMES: ReadonlyMap<string, Value> = new Map()

const spread = (callable: FixedCallable, args: FreeArguments): Value[] =>
  callable.parameters.map((parameter, index) => args.positional[index] ?? args.named.get(parameter))

/** The named filter or test, with its arguments. */
const bind = (kind: 'filter' | 'test', known: Callables, name: Value, args: FreeArguments): Apply => {
  const callable: Callable | undefined = typeof name === 'string' ? known.get(name) : undefined
  if (callable === undefined || typeof name !== 'string') {
    const shown = typeof name === 'string' ? `'${name}'${hint(name, known.keys())}` : 'without a name'
    return fault(`unknown ${kind} ${shown}`)
  }
  const given = { positionalCount: args.positional.length, names: [...args.named.keys()] }
  const problem = callProblem(`${kind} '${name}'`, callable, given)
  if (problem !== undefined) return fault(problem)
  if (callable.parameters === undefined) return (frame, value) => callable.apply(frame, value, args)
  const values = spread(callable, args)
  return (frame, value) => callable.apply(frame, value, ...values)
}

const rest = (args: FreeArguments, from: number, named = args.named): FreeArguments => ({
  positional: args.positional.slice(from),
  named,
})

const mapElements =
  (filters: Callables) =>
  (frame: Frame, value: Value, args: FreeArguments): Value => {
    const elements = elementsOf(frame, value)
    charge(frame, elements.length / 2)
    const attribute = args.named.get('attribute')
    if (attribute !== undefined && args.positional.length === 0) {
      const fallback = args.named.get('default')
      return elements.map((element) => {
        const found = itemByPath(element, attribute)
        return found === undefined ? fallback : found
      })
    }
    if (args.positional.length === 0) return fault('map needs a filter or an attribute')
    const apply = bind('filter', filters, args.positional[0], rest(args, 1))
    return elements.map((element) => {
      charge(frame, 1)
      return apply(frame, element)
    })
  }

/** Keeps the elements for which the test (or their truth) gives `wanted`. */
const selectElements =
  (tests: Callables, wanted: boolean, isByAttribute: boolean) =>
  (frame: Frame, value: Value, args: FreeArguments): Value => {
    const elements = elementsOf(frame, value)
    charge(frame, elements.length / 2)
    const testAt = isByAttribute ? 1 : 0
    const attribute = args.positional[0]
    const accepts =
      args.positional.length > testAt
        ? bind('test', tests, args.positional[testAt], rest(args, testAt + 1, NO_NAMES))
        : (_frame: Frame, tested: Value): boolean => isTrue(tested)
    return elements.filter((element) => {
      const tested = isByAttribute ? itemByPath(element, attribute) : element
      return isTrue(accepts(frame, tested)) === wanted
    })
  }

/** `filters` is asked when a template is rendered, so it may still be filled after this call. */
export const selectFilters = (
  filters: Callables,
  tests: Callables,
): readonly (readonly [string, Callable])[] => {
  const selecting = (wanted: boolean, isByAttribute: boolean): FreeCallable => ({
    parameters: undefined,
    named: [],
    required: isByAttribute ? 1 : 0,
    refersTo: { position: isByAttribute ? 1 : 0, kind: 'test' },
    apply: selectElements(tests, wanted, isByAttribute),
  })
  return [
    [
      'map',
      {
        parameters: undefined,
        named: undefined,
        required: 0,
        refersTo: { position: 0, kind: 'filter' },
        apply: mapElements(filters),
      },
    ],
    ['select', selecting(true, false)],
    ['reject', selecting(false, false)],
    ['selectattr', selecting(true, true)],
    ['rejectattr', selecting(false, true)],
  ]
}
