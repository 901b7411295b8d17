/**
 * What a loop says about one of its iterations. A command brings these values in its variables as far as its
 * templates read them; the rest follows from its input and its meta.
 */
import type { LeasedCommand } from '../contract/command.ts'
import type { JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'

/** `<iterator>`, `_index` and `_total`: what a tool that takes input gets besides its own. Null outside of loops. */
export const iterationInput = (command: LeasedCommand): JsonObject | null => {
  const { iteration_index: index, iteration_total: total } = command.meta
  if (typeof index !== 'number') return null
  const name = iteratorName(command)
  const { args, render_context: variables } = command.context
  const places = [variables['iter'] ?? null, variables, args].filter(isObject)
  const holder = places.find((place) => Object.hasOwn(place, name))
  return {
    ...(holder === undefined ? {} : { [name]: holder[name] ?? null }),
    _index: index,
    _total: total ?? null,
  }
}

export const iteratorName = ({ meta }: LeasedCommand): string =>
  typeof meta['item_var'] === 'string' ? meta['item_var'] : 'item'

/** The names of an iteration as templates see them. */
export const iterationNames = (command: LeasedCommand): JsonObject | null => {
  const input = iterationInput(command)
  if (input === null) return null
  const index = input['_index'] as number
  const total = input['_total'] ?? null
  const first = index === 0
  const last = total === index + 1
  return {
    ...input,
    loop_index: index,
    loop: { index, first, last, length: total },
    iter: { ...input, index, _first: first, _last: last },
  }
}
