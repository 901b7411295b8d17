/** Filters on lists. */
import { testFilterErrors, testFilters } from './filter.suite.ts'
import { LIST_FILTERS } from './list-filters.ts'

testFilters(LIST_FILTERS, {
  length: [
    ['"äö" | length', 2],
    ['"a😀" | length', 2],
    ['[1, 2] | length', 2],
    ['{"a": 1} | length', 1],
    ['missing | length', 0],
    ['nothing | length', 0],
  ],
  len: [['[1] | len', 1]],
  count: [['"abc" | count', 3]],
  list: [
    ['"ab" | list', ['a', 'b']],
    ['{"a": 1} | list', ['a']],
    ['missing | list', []],
  ],
  first: [
    ['[1, 2] | first', 1],
    ['"😀b" | first', '😀'],
    ['[] | first is undefined', true],
    ['missing | first', null],
  ],
  last: [
    ['[1, 2] | last', 2],
    ['"ab" | last', 'b'],
    ['[] | last is undefined', true],
  ],
  join: [
    ['[1, none, true, missing] | join(",")', '1,None,True,'],
    ['["a", "b"] | join', 'ab'],
    ['rows | join("-", attribute="a")', '1-3-2'],
    ['missing | join(",")', ''],
  ],
  reverse: [
    ['[1, 2] | reverse', [2, 1]],
    ['"ab" | reverse', 'ba'],
  ],
  batch: [
    ['[1, 2, 3] | batch(2)', [[1, 2], [3]]],
    [
      '[1, 2, 3] | batch(2, 0)',
      [
        [1, 2],
        [3, 0],
      ],
    ],
  ],
  slice: [
    [
      '[1, 2, 3, 4, 5] | slice(2)',
      [
        [1, 2, 3],
        [4, 5],
      ],
    ],
    [
      '[1, 2, 3, 4, 5] | slice(3, "x")',
      [
        [1, 2],
        [3, 4],
        [5, 'x'],
      ],
    ],
  ],
  unique: [
    ['["a", "A", "b", 1, 1.0, true, none, none] | unique', ['a', 'b', 1, null]],
    ['["a", "A"] | unique(case_sensitive=true)', ['a', 'A']],
    ['[{"a": 1}, {"a": 1.0}, [1]] | unique', [{ a: 1 }, [1]]],
    ['rows | unique(attribute="g") | map(attribute="a")', [1, 3]],
  ],
  chain: [['[1] | chain([2], "ab")', [1, 2, 'a', 'b']]],
  zip: [
    [
      '[1, 2, 3] | zip("ab")',
      [
        [1, 'a'],
        [2, 'b'],
      ],
    ],
  ],
})

testFilterErrors([
  ['5 | length', 'a number has no length'],
  ['true | first', 'cannot iterate over a boolean'],
  ['[1] | batch(0)', 'size of a batch must be at least 1'],
  ['[1] | slice(0)', 'number of slices must be at least 1'],
  ['[1] | batch("x")', 'size of a batch must be an integer'],
])
