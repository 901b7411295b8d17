/** Filters that choose elements, or apply another filter to each. */
import { TESTS } from '../tests.ts'
import { testFilterErrors, testFilters } from './filter.suite.ts'
import { FILTERS } from './filters.ts'
import { selectFilters } from './select-filters.ts'

testFilters(selectFilters(FILTERS, TESTS), {
  map: [
    ['rows | map(attribute="n.k.0")', [7, 8, 9]],
    ['rows | map(attribute="zz", default="?")', ['?', '?', '?']],
    ['["a", "b"] | map("upper")', ['A', 'B']],
    ['["1", "x"] | map("int", default=9)', [1, 9]],
    ['["a-b"] | map("replace", "-", "+")', ['a+b']],
    ['[rows] | map("sum", attribute="a")', [6]],
    ['[[3, 1]] | map("sort") | map("join", "-")', ['1-3']],
  ],
  select: [
    ['[1, 2, 3, 4] | select("odd")', [1, 3]],
    ['[1, 2, 3] | select("gt", 1)', [2, 3]],
    ['[0, 1, "", "a"] | select', [1, 'a']],
    ['["a", 1] | select("in", ["a"])', ['a']],
  ],
  reject: [
    ['[1, 2, 3] | reject("odd")', [2]],
    ['[0, 1] | reject', [0]],
  ],
  selectattr: [
    ['rows | selectattr("a", "gt", 1) | map(attribute="a")', [3, 2]],
    ['rows | selectattr("n.k.0", "==", 8) | map(attribute="a")', [3]],
    ['rows | selectattr("zz")', []],
  ],
  rejectattr: [['rows | rejectattr("g", "eq", "x") | map(attribute="a")', [3]]],
})

testFilterErrors([
  ['[1] | map(name)', "unknown filter 'uper' (did you mean 'upper'?)"],
  ['[1] | map', 'map needs a filter or an attribute'],
  ['[1] | select(5)', 'unknown test without a name'],
  ['[1] | select(test)', "test 'eq' needs the argument 'other'"],
])
