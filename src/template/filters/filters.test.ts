import { describe, expect, test } from 'vitest'
import { errorOf, textOf, valueOf } from '../evaluating.suite.ts'
import { FILTERS } from './filters.ts'

const data = {
  rows: [
    { a: 1, g: 'x', n: { k: [7] } },
    { a: 3, g: 'y', n: { k: [8] } },
    { a: 2, g: 'x', n: { k: [9] } },
  ],
  nothing: null,
  yes: true,
}

/** One entry per filter, so that none is forgotten. */
const CASES: Readonly<Record<string, readonly (readonly [string, unknown])[]>> = {
  string: [
    ['5 | string', '5'],
    ['yes | string | lower == "true"', true],
    ['missing | string', ''],
    ['{"a": [1]} | string', '{"a":[1]}'],
    ['2.0 | string', '2.0'],
  ],
  safe: [
    ['"<b>" | safe', '<b>'],
    ['[1] | safe', [1]],
  ],
  lower: [
    ['"ÄB" | lower', 'äb'],
    ['yes | lower', 'true'],
    ['missing | lower', ''],
  ],
  upper: [
    ['"äb" | upper', 'ÄB'],
    ['5 | upper', '5'],
  ],
  capitalize: [
    ['"hello WORLD" | capitalize', 'Hello world'],
    ['"" | capitalize', ''],
  ],
  title: [
    ['"hello big-world (now)" | title', 'Hello Big-World (Now)'],
    [`"it's" | title`, "It's"],
  ],
  trim: [
    ['"  x " | trim', 'x'],
    ['"xxaxx" | trim("x")', 'a'],
    ['" x" | trim(chars=none)', 'x'],
  ],
  escape: [[`'<a b="c">&\\'' | escape`, '&lt;a b=&#34;c&#34;&gt;&amp;&#39;']],
  e: [['"<" | e', '&lt;']],
  urlencode: [
    ['"a b/c&d(é)" | urlencode', 'a%20b/c%26d%28%C3%A9%29'],
    ['{"a": 1, "b": "x y", "c": none} | urlencode', 'a=1&b=x+y'],
  ],
  replace: [
    ['"a-b-c" | replace("-", "+")', 'a+b+c'],
    ['"a-b-c" | replace("-", "+", 1)', 'a+b-c'],
    ['"abc" | replace("", "-")', '-a-b-c-'],
    ['15 | replace(1, 2)', '25'],
    ['"a.b" | replace(".", "$&")', 'a$&b'],
    [`"it's" | replace("'", "''")`, "it''s"],
  ],
  split: [
    ['"a b  c" | split', ['a', 'b', '', 'c']],
    ['"a,b,c" | split(",")', ['a', 'b', 'c']],
    ['"a,b,c" | split(",", 1)', ['a', 'b,c']],
    ['missing | split', []],
    ['nothing | split', []],
  ],
  lines: [
    ['"a\\nb\\r\\nc\\n" | lines', ['a', 'b', 'c']],
    ['missing | lines', []],
  ],
  wordcount: [['"hello  big world " | wordcount', 3]],
  indent: [
    ['"a\\n\\nb" | indent(2)', 'a\n\n  b'],
    ['"a\\nb" | indent', 'a\n    b'],
    ['"a\\n\\nb" | indent(2, true, true)', '  a\n  \n  b'],
    ['"a\\nb" | indent("> ", first=true)', '> a\n> b'],
  ],
  center: [
    ['"x" | center(5)', '  x  '],
    ['"xy" | center(5)', '  xy '],
    ['"xyz" | center(2)', 'xyz'],
  ],
  truncate: [
    ['"foo bar baz qux" | truncate(9)', 'foo...'],
    ['"foo bar baz qux" | truncate(9, true)', 'foo ba...'],
    ['"foo bar baz qux" | truncate(11)', 'foo bar baz qux'],
    ['"foobarbaz" | truncate(5, end="-", leeway=0)', 'foob-'],
  ],
  format: [
    ['"%s-%d" | format("a", 5)', 'a-5'],
    ['"%05.2f|%+d|%x|%-5s|%5s|%%" | format(3.14159, 5, 255, "ab", "cd")', '03.14|+5|ff|ab   |   cd|%'],
    ['"%(a)s" | format(a=1)', '1'],
  ],
  b64encode: [
    ['"äö" | b64encode', 'w6TDtg=='],
    ['"" | b64encode', ''],
  ],
  b64decode: [
    ['"w6TDtg==" | b64decode', 'äö'],
    ['"a😀" | b64encode | b64decode', 'a😀'],
  ],
  int: [
    ['3.9 | int', 3],
    ['-3.9 | int', -3],
    ['"12" | int', 12],
    ['" -12.9 " | int', -12],
    ['"1e3" | int', 1000],
    ['"abc" | int', 0],
    ['"abc" | int(7)', 7],
    ['"" | int(default=none)', null],
    ['missing | int', 0],
    ['nothing | int', 0],
    ['[] | int', 0],
    ['yes | int', 1],
    ['"ff" | int(0, 16)', 255],
    ['"-0b101" | int(base=2)', -5],
    ['"123456789012345678" | int', '123456789012345678'],
  ],
  float: [
    ['"1.5" | float', 1.5],
    ['".5" | float', 0.5],
    ['"x" | float', 0],
    ['"x" | float(2.5)', 2.5],
    ['missing | float', 0],
    ['"inf" | float', 0],
    ['"nan" | float(1)', 1],
  ],
  bool: [
    ['"no" | bool', false],
    ['"False" | bool', false],
    ['"yes" | bool', true],
    ['[] | bool', false],
    ['1 | bool', true],
    ['missing | bool', false],
  ],
  abs: [
    ['-5 | abs', 5],
    ['(-2.5) | abs', 2.5],
    ['(-(2 ** 70)) | abs', '1180591620717411303424'],
  ],
  round: [
    ['2.567 | round(2)', 2.57],
    ['2.5 | round', 3],
    ['-2.5 | round', -3],
    ['1.005 | round(2)', 1],
    ['42.55 | round(1, "floor")', 42.5],
    ['42.51 | round(method="ceil")', 43],
    ['5 | round', 5],
    ['1234 | round(-2)', 1200],
    ['1251.5 | round(-2)', 1300],
  ],
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
    ['rows | attr(1)', data.rows[1]],
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
    ['rows | max(attribute="a")', data.rows[1]],
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
}

describe.each(Object.keys(CASES))('filter %s', (name) => {
  test.each(CASES[name] ?? [])('%s', (expression, expected) => {
    expect(valueOf(expression, data)).toEqual(expected)
  })
})

test('every filter is covered by a case', () => {
  expect(Object.keys(CASES).toSorted()).toEqual([...FILTERS.keys()].toSorted())
})

test.each([
  ['"1.50" | float', '1.5'],
  ['5 | float', '5.0'],
  ['5.4 | round', '5.0'],
  ['missing | float', '0.0'],
])('%s prints as a float: %s', (expression, expected) => {
  expect(textOf(`{{ ${expression} }}`)).toBe(expected)
})

test.each([
  ['"{" | fromjson', 'fromjson'],
  ['missing | fromjson', 'fromjson needs text'],
  ['"!!" | b64decode', 'not base64'],
  ['"/w==" | b64decode', 'not base64 of UTF-8'],
  ['"abcde" | b64decode', 'not base64'],
  ['"a" | split("")', 'separator is empty'],
  ['5 | keys', 'keys needs a mapping, found number'],
  ['[1] | values', 'values needs a mapping, found list'],
  ['5 | length', 'a number has no length'],
  ['true | first', 'cannot iterate over a boolean'],
  ['"a" | abs', 'abs needs a number, found text'],
  ['1.5 | round(0, "up")', 'method of round'],
  ['[1] | batch(0)', 'size of a batch must be at least 1'],
  ['[1] | slice(0)', 'number of slices must be at least 1'],
  ['[1] | batch("x")', 'size of a batch must be an integer'],
  ['{} | dictsort(by="x")', "by must be 'key' or 'value'"],
  ['[1] | map(name)', "unknown filter 'uper' (did you mean 'upper'?)"],
  ['[1] | map', 'map needs a filter or an attribute'],
  ['[1] | select(5)', 'unknown test without a name'],
  ['[1] | select(test)', "test 'eq' needs the argument 'other'"],
  ['"x" | int(base=99)', 'base must be between'],
  ['"%d" | format', 'format needs more arguments'],
  ['"%s" | format(1, 2)', 'format has too many arguments'],
  ['"%d" | format("x")', "format 'd' needs a number"],
  ['"%y" | format(1)', "unknown format '%'"],
  ['[1, "a"] | sum', 'cannot use + on number and text'],
])('%s is an error: %s', (expression, reason) => {
  expect(errorOf(`{{ ${expression} }}`, { name: 'uper', test: 'eq' }).reason).toContain(reason)
})
