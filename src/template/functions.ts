/**
 * Functions that a template can call.
 * The clock and random ids come from the scope, so that a replayed rendering gives the same answer.
 */
import { optional, type Callable, type FreeArguments } from './callable.ts'
import { fault } from './errors.ts'
import type { Frame } from './frame.ts'
import { charge } from './limits.ts'
import { asNumeric, isInteger, toNumber } from './numbers.ts'
import { elementsOf } from './sequences.ts'
import { jsonText, textOf } from './text-form.ts'
import { asList, asMapping, NAMESPACE, setMember, type Value } from './values.ts'

const bound = (value: Value): number => {
  const number = asNumeric(value)
  return number !== undefined && isInteger(number) ? toNumber(number) : fault('range needs integers')
}

const range = (frame: Frame, _input: Value, first: Value, second: Value, third: Value): Value => {
  const start = second === undefined ? 0 : bound(first)
  const stop = bound(second === undefined ? first : second)
  const step = third === undefined ? 1 : bound(third)
  if (step === 0) return fault('step of range cannot be zero')
  const length = Math.max(0, Math.ceil((stop - start) / step))
  charge(frame, length)
  return Array.from({ length }, (_, index) => start + index * step)
}

const fill = (
  frame: Frame,
  target: Record<string, unknown>,
  args: FreeArguments,
): Record<string, unknown> => {
  for (const source of args.positional) {
    const mapping = asMapping(source)
    const pairs = mapping === undefined ? elementsOf(frame, source) : Object.entries(mapping)
    charge(frame, pairs.length)
    for (const pair of pairs) {
      const entry = asList(pair)
      if (entry?.length !== 2) return fault('dict needs a mapping or a list of pairs')
      setMember(target, textOf(frame, entry[0]), entry[1])
    }
  }
  for (const [name, value] of args.named) setMember(target, name, value)
  return target
}

/** Without arguments: everything this template reads. */
const debug = (frame: Frame, args: FreeArguments): string => {
  if (args.positional.length === 1 && args.named.size === 0) return jsonText(frame, args.positional[0], 2)
  const shown: Record<string, unknown> = Object.fromEntries(args.named)
  for (const [index, value] of args.positional.entries()) shown[String(index)] = value
  if (args.positional.length === 0 && args.named.size === 0) {
    for (const name of frame.roots) setMember(shown, name, frame.scope.lookup(name))
  }
  return jsonText(frame, shown, 2)
}

const free = (apply: (frame: Frame, args: FreeArguments) => Value): Callable => ({
  parameters: undefined,
  named: undefined,
  required: 0,
  apply: (frame, _input, args) => apply(frame, args),
})

export const FUNCTIONS: ReadonlyMap<string, Callable> = new Map<string, Callable>([
  ['range', { parameters: ['start', 'stop', 'step'], required: 1, apply: range }],
  ['dict', free((frame, args) => fill(frame, {}, args))],
  ['namespace', free((frame, args) => fill(frame, { [NAMESPACE]: true }, args))],
  ['debug', free(debug)],
  ['now', optional('', (frame) => frame.scope.now ?? fault('now() is not available here'))],
  ['uuid4', optional('', (frame) => frame.scope.uuid?.() ?? fault('uuid4() is not available here'))],
])
