/** All filters together: those of the files beside this one, each tested there, and the one for what is missing. */
import { expect, test } from 'vitest'
import { TESTS } from '../tests.ts'
import { testFilters } from './filter.suite.ts'
import { FILTERS } from './filters.ts'
import { JSON_FILTERS } from './json-filters.ts'
import { LIST_FILTERS } from './list-filters.ts'
import { MAPPING_FILTERS } from './mapping-filters.ts'
import { NUMBER_FILTERS } from './number-filters.ts'
import { ORDER_FILTERS } from './order-filters.ts'
import { selectFilters } from './select-filters.ts'
import { TEXT_FILTERS } from './text-filters.ts'

/** Tested in a file of their own. */
const ELSEWHERE = [
  ...TEXT_FILTERS,
  ...NUMBER_FILTERS,
  ...JSON_FILTERS,
  ...MAPPING_FILTERS,
  ...LIST_FILTERS,
  ...ORDER_FILTERS,
  ...selectFilters(FILTERS, TESTS),
].map(([name]) => name)

test('no name is given to two filters', () => {
  expect(new Set(ELSEWHERE).size).toBe(ELSEWHERE.length)
})

testFilters(
  [...FILTERS].filter(([name]) => !ELSEWHERE.includes(name)),
  {
    default: [
      ['missing | default(3)', 3],
      ['nothing | default("d")', 'd'],
      ['0 | default(5)', 0],
      ['0 | default(5, true)', 5],
      ['"" | default("x", boolean=true)', 'x'],
      ['missing | default', ''],
      ['missing | default(value=1)', 1],
      ['missing | default(default_value=2)', 2],
      ['missing | default(other_missing) is undefined', true],
      ['missing.a.b | default([])', []],
    ],
    d: [['missing | d(1)', 1]],
  },
)
