/** Filters that put in order, compare, add up and group. */
import { DATA, testFilterErrors, testFilters } from './filter.suite.ts'
import { ORDER_FILTERS } from './order-filters.ts'

testFilters(ORDER_FILTERS, {
  sort: [
    ['[3, 1, 2] | sort', [1, 2, 3]],
    ['["b", "A", "c"] | sort', ['A', 'b', 'c']],
    ['["b", "A"] | sort(case_sensitive=true, reverse=true)', ['b', 'A']],
    ['rows | sort(attribute="a", reverse=true) | map(attribute="a")', [3, 2, 1]],
    ['rows | sort(attribute="g,a") | map(attribute="a")', [1, 2, 3]],
    ['[3, "b", none, [1], true] | sort', [null, true, 3, 'b', [1]]],
  ],
  min: [
    ['[3, 1, 2] | min', 1],
    ['["b", "A"] | min', 'A'],
    ['[] | min is undefined', true],
  ],
  max: [
    ['[3, 1, 2] | max', 3],
    ['rows | max(attribute="a")', DATA.rows[1]],
    ['["10", 9] | max', '10'],
  ],
  sum: [
    ['[1, 2, 3] | sum', 6],
    ['rows | sum(attribute="a")', 6],
    ['[1, 2] | sum(start=0.5)', 3.5],
    ['[[1], [2]] | sum(start=[])', [1, 2]],
    ['[] | sum', 0],
  ],
  groupby: [
    ['rows | groupby("g") | map("first")', ['x', 'y']],
    ['rows | groupby("g") | map(attribute="list") | map("length")', [2, 1]],
    ['[{"k": "b"}, {"k": "A"}, {}] | groupby("k", default="c") | map(attribute="grouper")', ['A', 'b', 'c']],
    ['[{"k": 1}] | groupby("k")', [[1, [{ k: 1 }]]]],
  ],
})

testFilterErrors([['[1, "a"] | sum', 'cannot use + on number and text']])
