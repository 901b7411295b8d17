/** Filters to and from JSON. */
import { testFilterErrors, testFilters } from './filter.suite.ts'
import { JSON_FILTERS } from './json-filters.ts'

testFilters(JSON_FILTERS, {
  tojson: [
    ['{"b": 1, "a": [none, missing, true, "<é>"]} | tojson', '{"b":1,"a":[null,null,true,"<é>"]}'],
    ['missing | tojson', 'null'],
    ['nothing | tojson', 'null'],
    ['[1, {"a": 2}] | tojson(2)', '[\n  1,\n  {\n    "a": 2\n  }\n]'],
    ['[1.0, []] | tojson(indent=2)', '[\n  1.0,\n  []\n]'],
    ['{"a": 1.0} | tojson(indent=1)', '{\n "a": 1.0\n}'],
    ['[1] | tojson(indent=12)', `[\n${' '.repeat(12)}1\n]`],
    ['[1] | tojson(true)', '[\n  1\n]'],
  ],
  fromjson: [
    [`'{"a": [1, 2.5, null]}' | fromjson`, { a: [1, 2.5, null] }],
    [
      `'{"id": 123456789012345678, "n": 1.2345678901234567}' | fromjson`,
      { id: '123456789012345678', n: 1.2345678901234567 },
    ],
    ['[1] | fromjson', [1]],
    ['nothing | fromjson', null],
  ],
  pprint: [['[1] | pprint', '[\n  1\n]']],
})

testFilterErrors([
  ['"{" | fromjson', 'fromjson'],
  ['missing | fromjson', 'fromjson needs text'],
])
