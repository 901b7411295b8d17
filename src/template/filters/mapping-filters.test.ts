/** Filters on mappings. */
import { DATA, testFilterErrors, testFilters } from './filter.suite.ts'
import { MAPPING_FILTERS } from './mapping-filters.ts'

testFilters(MAPPING_FILTERS, {
  keys: [['{"b": 1, "a": 2} | keys', ['b', 'a']]],
  values: [['{"b": 1, "a": 2} | values', [1, 2]]],
  items: [
    [
      '{"b": 1, "a": 2} | items',
      [
        ['b', 1],
        ['a', 2],
      ],
    ],
  ],
  get: [
    ['{"a": 1} | get("a")', 1],
    ['{"a": 1} | get("b", 5)', 5],
    ['{"a": 1} | get("b") is undefined', true],
    ['[1, 2] | get(1)', 2],
    ['[1, 2] | get(9, default="x")', 'x'],
    ['missing | get("a")', null],
  ],
  attr: [
    ['rows[0] | attr("a")', 1],
    ['rows | attr(1)', DATA.rows[1]],
  ],
  dictsort: [
    [
      '{"b": 1, "A": 2} | dictsort',
      [
        ['A', 2],
        ['b', 1],
      ],
    ],
    [
      '{"b": 1, "a": 2} | dictsort(by="value")',
      [
        ['b', 1],
        ['a', 2],
      ],
    ],
    [
      '{"b": 1, "a": 2} | dictsort(reverse=true)',
      [
        ['b', 1],
        ['a', 2],
      ],
    ],
    [
      '{"a": 1, "B": 2} | dictsort(case_sensitive=true)',
      [
        ['B', 2],
        ['a', 1],
      ],
    ],
  ],
})

testFilterErrors([
  ['5 | keys', 'keys needs a mapping, found number'],
  ['[1] | values', 'values needs a mapping, found list'],
  ['{} | dictsort(by="x")', "by must be 'key' or 'value'"],
])
