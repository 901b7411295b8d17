/** All filters by name. */
import type { Callable } from '../callable.ts'
import { TESTS } from '../tests.ts'
import { isAbsent, isTrue } from '../values.ts'
import { JSON_FILTERS } from './json-filters.ts'
import { LIST_FILTERS } from './list-filters.ts'
import { MAPPING_FILTERS } from './mapping-filters.ts'
import { NUMBER_FILTERS } from './number-filters.ts'
import { ORDER_FILTERS } from './order-filters.ts'
import { selectFilters } from './select-filters.ts'
import { TEXT_FILTERS } from './text-filters.ts'

/** Also for none; with `boolean` for every false value. Without an argument the replacement is empty text. */
const defaultFilter: Callable = {
  parameters: undefined,
  named: ['value', 'default_value', 'boolean'],
  required: 0,
  apply: (_frame, value, { positional, named }) => {
    const isReplaced = isTrue(positional[1] ?? named.get('boolean'))
      ? !isTrue(value)
      : isAbsent(value) || value === null
    if (!isReplaced) return value
    if (positional.length > 0) return positional[0]
    if (named.has('default_value')) return named.get('default_value')
    return named.has('value') ? named.get('value') : ''
  },
}

const filters = new Map<string, Callable>([
  ...TEXT_FILTERS,
  ...NUMBER_FILTERS,
  ...JSON_FILTERS,
  ...MAPPING_FILTERS,
  ...LIST_FILTERS,
  ...ORDER_FILTERS,
  ['default', defaultFilter],
  ['d', defaultFilter],
])

for (const [name, filter] of selectFilters(filters, TESTS)) filters.set(name, filter)

export const FILTERS: ReadonlyMap<string, Callable> = filters
