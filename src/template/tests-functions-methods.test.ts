import { describe, expect, test } from 'vitest'
import { errorOf, scopeOf, textOf, valueOf } from './evaluating.suite.ts'
import { FUNCTIONS } from './functions.ts'
import { METHOD_NAMES } from './methods.ts'
import { compileTemplate } from './template.ts'
import { TESTS } from './tests.ts'

type Cases = Readonly<Record<string, readonly (readonly [string, unknown])[]>>

const data = { n: 5, nothing: null, text: 'abc', list: [1], map: { a: 1 } }

/** Expressions that hold, and expressions that do not. */
const TEST_CASES: Readonly<Record<string, readonly [readonly string[], readonly string[]]>> = {
  defined: [
    ['n is defined', 'nothing is defined', 'map.a is defined'],
    ['missing is defined', 'map.b is defined'],
  ],
  undefined: [['missing is undefined', 'n.x.y is undefined'], ['nothing is undefined']],
  none: [['nothing is none', 'n is not none', 'missing is not none'], ['missing is none']],
  string: [['text is string'], ['n is string', 'missing is string']],
  number: [
    ['n is number', '1.0 is number', '2 ** 70 is number'],
    ['true is number', '"1" is number'],
  ],
  boolean: [['true is boolean'], ['1 is boolean']],
  true: [['true is true'], ['1 is true', 'false is true']],
  false: [['false is false'], ['0 is false', 'nothing is false']],
  integer: [
    ['5 is integer', '(2 ** 70) is integer'],
    ['5.0 is integer', 'true is integer', '"5" is integer'],
  ],
  float: [
    ['5.0 is float', '1.5 is float', '(4 / 2) is float'],
    ['5 is float', 'text is float'],
  ],
  sequence: [['list is sequence'], ['text is sequence', 'map is sequence', 'missing is sequence']],
  mapping: [
    ['map is mapping', '{} is mapping'],
    ['list is mapping', '1.0 is mapping', 'nothing is mapping'],
  ],
  iterable: [
    ['list is iterable', 'text is iterable', 'map is iterable'],
    ['n is iterable', 'missing is iterable'],
  ],
  odd: [
    ['3 is odd', '-3 is odd'],
    ['2 is odd', '"3" is odd', '3.0 is odd'],
  ],
  even: [
    ['2 is even', '0 is even'],
    ['3 is even', 'missing is even'],
  ],
  divisibleby: [
    ['6 is divisibleby 3', '6 is divisibleby(2)'],
    ['6 is divisibleby 4', '6 is divisibleby 0'],
  ],
  startingwith: [
    ['text is startingwith("ab")', 'text is startingwith "a"'],
    ['text is startingwith("b")', 'n is startingwith("5")'],
  ],
  endingwith: [['text is endingwith("bc")'], ['text is endingwith("b")']],
  containing: [['list is containing(1)', 'text is containing "b"'], ['list is containing(2)']],
  lower: [['"ab1" is lower'], ['"Ab" is lower', '"12" is lower', 'n is lower']],
  upper: [['"AB" is upper'], ['"Ab" is upper', '"" is upper']],
  sameas: [
    ['nothing is sameas none', 'map is sameas map', '1 is sameas 1'],
    ['[1] is sameas [1]', '1 is sameas 1.0', 'true is sameas 1'],
  ],
  in: [
    ['1 is in list', '"a" is in text'],
    ['2 is in list', '1 is not in list'],
  ],
  eq: [['1 is eq 1.0'], ['1 is eq "1"']],
  equalto: [['1 is equalto(1)'], ['1 is equalto 2']],
  '==': [['list | select("==", 1)'], ['list | select("==", 2)']],
  ne: [['1 is ne 2'], ['1 is ne 1']],
  '!=': [['list | select("!=", 2)'], ['list | select("!=", 1)']],
  lt: [['1 is lt 2'], ['2 is lt 1']],
  lessthan: [['1 is lessthan 2'], ['2 is lessthan 2']],
  '<': [['list | select("<", 2)'], ['list | select("<", 1)']],
  le: [['1 is le 1'], ['2 is le 1']],
  '<=': [['list | select("<=", 1)'], ['list | select("<=", 0)']],
  gt: [['2 is gt 1', '"10" is gt 9'], ['1 is gt 2']],
  greaterthan: [['2 is greaterthan 1'], ['1 is greaterthan 1']],
  '>': [['list | select(">", 0)'], ['list | select(">", 1)']],
  ge: [['1 is ge 1'], ['1 is ge 2']],
  '>=': [['list | select(">=", 1)'], ['list | select(">=", 2)']],
}

describe.each(Object.keys(TEST_CASES))('test %s', (name) => {
  const [holding, failing] = TEST_CASES[name] ?? [[], []]
  test.each(holding)('%s', (expression) => {
    expect(compileTemplate(`{{ ${expression} }}`).test(scopeOf(data))).toBe(true)
  })
  test.each(failing)('not: %s', (expression) => {
    expect(compileTemplate(`{{ ${expression} }}`).test(scopeOf(data))).toBe(false)
  })
})

test('every test is covered by a case', () => {
  expect(Object.keys(TEST_CASES).toSorted()).toEqual([...TESTS.keys()].toSorted())
})

const FUNCTION_CASES: Cases = {
  range: [
    ['range(3)', [0, 1, 2]],
    ['range(2, 8, 3)', [2, 5]],
    ['range(5, 0, -2)', [5, 3, 1]],
    ['range(0)', []],
    ['range(1, stop=3)', [1, 2]],
  ],
  dict: [
    ['dict(a=1, b=2)', { a: 1, b: 2 }],
    ['dict({"a": 1}, b=n)', { a: 1, b: 5 }],
    ['dict([["a", 1], ["b", missing]])', { a: 1, b: null }],
  ],
  namespace: [
    ['namespace(a=1).a', 1],
    ['namespace({"b": 2})', { b: 2 }],
  ],
  debug: [
    ['debug(map)', '{\n  "a": 1\n}'],
    ['debug(x=1.0)', '{\n  "x": 1.0\n}'],
    ['[debug(), n, missing]', ['{\n  "n": 5,\n  "missing": null\n}', 5, null]],
  ],
  now: [['now()', '2026-11-15T12:00:00.000Z']],
  uuid4: [['uuid4()', '6f9619ff-8b86-4d01-b42d-00cf4fc964ff']],
}

describe.each(Object.keys(FUNCTION_CASES))('function %s', (name) => {
  test.each(FUNCTION_CASES[name] ?? [])('%s', (expression, expected) => {
    expect(valueOf(expression, data)).toEqual(expected)
  })
})

test('every function is covered by a case', () => {
  expect(Object.keys(FUNCTION_CASES).toSorted()).toEqual([...FUNCTIONS.keys()].toSorted())
})

test('a function name that is not called is an ordinary name', () => {
  expect(valueOf('range', { range: 7 })).toBe(7)
})

test('clock and ids come from the scope, and are errors without it', () => {
  const bare = { lookup: () => undefined }
  expect(() => compileTemplate('{{ now() }}').value(bare)).toThrow('now() is not available here')
  expect(() => compileTemplate('{{ uuid4() }}').value(bare)).toThrow('uuid4() is not available here')
})

test.each(['range(0, 5, 0)', 'range("a")', 'range(1.5)', 'dict([1])', 'dict(5)'])(
  '%s is an error',
  (expression) => {
    expect(errorOf(`{{ ${expression} }}`).reason).toMatch(/range|dict|iterate/)
  },
)

const METHOD_CASES: Cases = {
  get: [
    ['map.get("a")', 1],
    ['map.get("b") is none', true],
    ['map.get("b", 2)', 2],
    ['map.get("b", default=3)', 3],
    ['{"get": 1}.get("get")', 1],
  ],
  keys: [['{"b": 1, "a": 2}.keys()', ['b', 'a']]],
  values: [['{"b": 1, "a": 2}.values()', [1, 2]]],
  items: [
    ['{"b": 1}.items()', [['b', 1]]],
    ['{"items": [1]}.items', [1]],
  ],
  split: [
    ['" a b  c ".split()', ['a', 'b', 'c']],
    ['"a,b,c".split(",", 1)', ['a', 'b,c']],
    ['" a b  c d ".split(none, 2)', ['a', 'b', 'c d ']],
    ['" a b ".split(maxsplit=0)', ['a b ']],
    ['"  ".split(maxsplit=0)', []],
  ],
  strip: [
    ['" a ".strip()', 'a'],
    ['"xax".strip("x")', 'a'],
  ],
  lstrip: [
    ['" a ".lstrip()', 'a '],
    ['"xax".lstrip("x")', 'ax'],
  ],
  rstrip: [
    ['" a ".rstrip()', ' a'],
    ['"a/".rstrip("/")', 'a'],
  ],
  lower: [['"AB".lower()', 'ab']],
  upper: [['text.upper()', 'ABC']],
  title: [['"a b".title()', 'A B']],
  capitalize: [['"aB".capitalize()', 'Ab']],
  startswith: [
    ['text.startswith("ab")', true],
    ['text.startswith(("x", "a"))', true],
    ['text.startswith("b")', false],
  ],
  endswith: [['text.endswith("bc")', true]],
  replace: [
    ['text.replace("b", "x")', 'axc'],
    ['"aaa".replace("a", "b", 2)', 'bba'],
  ],
  format: [
    ['"{} {}".format(1, "b")', '1 b'],
    ['"{1} {0} {{}} {x}".format(1, "b", x=none)', 'b 1 {} None'],
    [
      '"{x:>5}|{x:<5}|{x:^5}|{y:05.1f}|{y:.2f}|{z:,}|{z:+}|{x!s:_<4}".format(x="ab", y=3.14159, z=1234567)',
      '   ab|ab   | ab  |003.1|3.14|1,234,567|+1234567|ab__',
    ],
    [
      '"{:5d}|{:<5}|{:e}|{:g}|{:%}|{:X}|{:b}|{:.3}".format(42, 42, 12345.678, 0.00001234, 0.25, 255, 5, "abcdef")',
      '   42|42   |1.234568e+04|1.234e-05|25.000000%|FF|101|abc',
    ],
    [
      '"{:.3}|{:g}|{:6}|{:06}|{}".format(3.14159, 100000.0, 2.5, -42, 4 / 2)',
      '3.14|100000|   2.5|-00042|2.0',
    ],
  ],
  splitlines: [['"a\\nb\\n".splitlines()', ['a', 'b']]],
  isdigit: [
    ['"12".isdigit()', true],
    ['"1a".isdigit()', false],
  ],
  join: [['"-".join([1, "b"])', '1-b']],
  find: [
    ['"banana".find("n")', 2],
    ['"b".find("x")', -1],
  ],
  count: [
    ['[1, 2, 1.0].count(1)', 2],
    ['"banana".count("an")', 2],
    ['"ab".count("")', 3],
  ],
  index: [['[1, 2].index(2)', 1]],
  cycle: [],
  changed: [],
}

describe.each(Object.keys(METHOD_CASES))('method %s', (name) => {
  test.each(METHOD_CASES[name] ?? [])('%s', (expression, expected) => {
    expect(valueOf(expression, data)).toEqual(expected)
  })
  test('is not available on a number', () => {
    expect(
      errorOf(
        `{{ 5 .${name}(${name === 'replace' ? '1, 2' : ['split', 'strip', 'get', 'index', 'count', 'find', 'join', 'startswith', 'endswith', 'cycle', 'changed'].includes(name) ? '1' : ''}) }}`,
      ).reason,
    ).toBe(`a number has no method '${name}'`)
  })
})

test('every method is covered by a case', () => {
  expect(Object.keys(METHOD_CASES).toSorted()).toEqual([...METHOD_NAMES].toSorted())
})

test('the methods of a loop', () => {
  expect(textOf('{% for i in [1, 1, 2] %}{{ loop.cycle("a", "b") }}{{ loop.changed(i) }} {% endfor %}')).toBe(
    'aTrue bFalse aTrue ',
  )
})

test.each([
  ['"{}".format()', 'format has no argument 0'],
  ['"{x}".format(1)', "format has no argument 'x'"],
  ['"{0.real}".format(1)', "format has no argument '0.real'"],
  ['"{".format(1)', "single '{' in format"],
  ['"{:zz}".format(1)', "unknown format 'zz'"],
  ['"{:d}".format(1.5)', "format 'd' needs an integer"],
  ['"{:f}".format("x")', "format 'f' needs a number"],
  ['"{:99999999}".format(1)', 'format width is larger'],
  ['"{:.999f}".format(1)', 'format precision is larger'],
])('%s is an error: %s', (expression, reason) => {
  expect(errorOf(`{{ ${expression} }}`).reason).toContain(reason)
})
