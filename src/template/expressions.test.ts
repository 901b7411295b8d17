import { describe, expect, test } from 'vitest'
import { errorOf, textOf, valueOf } from './evaluating.suite.ts'

const data = {
  n: 5,
  nothing: null,
  text: 'hello',
  rows: [{ a: 1 }, { a: 2 }, { a: 3 }],
  map: { k: { deep: [10, 20] }, 'with space': 1, 5: 'five' },
}

const table = (cases: readonly (readonly [string, unknown])[]): void => {
  test.each(cases)('%s', (expression, expected) => {
    expect(valueOf(expression, data)).toEqual(expected)
  })
}

describe('literals', () => {
  table([
    ['1_000', 1000],
    ['0xff', 255],
    ['0b11 + 0o7', 10],
    ['1.5e3', 1500],
    [String.raw`"é\n\t\x41\u00e9\q"`, 'é\n\tAé\\q'],
    [String.raw`'it\'s'`, "it's"],
    ["'a' 'b'", 'ab'],
    ['[true, True, false, False, none, None, null]', [true, true, false, false, null, null, null]],
    ['(1, 2)', [1, 2]],
    ['(1,)', [1]],
    ['()', []],
    ['[1, 2,]', [1, 2]],
    ['{"a": 1, "b": {"c": []},}', { a: 1, b: { c: [] } }],
    ['{n: 1}', { 5: 1 }],
  ])
})

describe('precedence', () => {
  table([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['2 ** 3 ** 2', 64],
    ['-2 ** 2', 4],
    ['1 - 1 - 1', -1],
    ['"a" ~ "b" * 2', 'abb'],
    ['"x" ~ 1 ~ none ~ true', 'x1NoneTrue'],
    ['n | int + 1', 6],
    ['-5 | abs', 5],
    ['not 1 == 2', true],
    ['not n is string', true],
    ['1 or 2 and 0', 1],
    ['1 < 2 < 3', true],
    ['1 < 3 < 2', false],
    ['"a" if n == 6 else "b" if n == 5 else "c"', 'b'],
    ['1 if false', null],
    ['2 - -1', 3],
    ['+n', 5],
    ['5 % 3 * 2', 4],
    ['n > 3 and n < 9 or missing', true],
  ])
})

describe('arithmetic', () => {
  table([
    ['7 / 2', 3.5],
    ['7 // 2', 3],
    ['-7 // 2', -4],
    ['-7 % 3', 2],
    ['7.5 % 2', 1.5],
    ['-7.5 % 2', 0.5],
    ['2 ** -1', 0.5],
    ['2 ** 0.5 > 1.41', true],
    ['true + 1', 2],
    ['[1] + [2]', [1, 2]],
    ['"ab" * 2', 'abab'],
    ['3 * [0]', [0, 0, 0]],
    ['"ab" * -1', ''],
    ['"%s-%03d" % ("a", 7)', 'a-007'],
    ['"%(k)s" % {"k": 1}', '1'],
    ['9007199254740991 + 1 - 9007199254740991', 1],
    ['-(2 ** 60) // 7', '-164703072086692426'],
    ['(2 ** 60) % -7', -6],
    ['(-1) ** 1000001', -1],
    ['1 ** 99999999999', 1],
    ['-0', 0],
    ['"a" + "b"', 'ab'],
    ['2 ** 70 / 2 ** 69', 2],
    ['2.5 - 1', 1.5],
    ['5 // 0.3', 16],
    ['2 ** 60 * 4 - 2 ** 62', 0],
  ])

  test.each([
    ['4 / 2', '2.0'],
    ['4 // 2', '2'],
    ['4.0 // 3', '1.0'],
    ['2 * 1.5', '3.0'],
    ['1.5 + 1.5', '3.0'],
    ['2 ** 3', '8'],
    ['2.0 ** 3', '8.0'],
    ['-(4 / 2)', '-2.0'],
    ['3.0 | int', '3'],
    ['3 | float', '3.0'],
  ])('%s prints as %s: integers and floats stay apart', (expression, expected) => {
    expect(textOf(`{{ ${expression} }}`)).toBe(expected)
  })

  test.each([
    'missing + 1',
    'none * 2',
    '"a" - "b"',
    '{} + {}',
    '-"a"',
    '1 % 0',
    '0 ** -1',
    '(-8.0) ** 0.5',
    '1e308 * 10',
  ])('%s is an error', (expression) => {
    expect(errorOf(`{{ ${expression} }}`).reason).not.toBe('')
  })
})

describe('undefined and none', () => {
  table([
    ['missing.a.b["c"][0]', null],
    ['missing == other_missing', true],
    ['missing == none', false],
    ['nothing == none', true],
    ['nothing.a is undefined', true],
    ['missing is defined', false],
    ['nothing is defined', true],
    ['nothing is none', true],
    ['missing is none', false],
    ['nothing | default("d")', 'd'],
    ['missing or "x"', 'x'],
    ['missing | length', 0],
    ['missing | list', []],
    ['"a" in missing', false],
    ['missing.get("a")', null],
    ['text.nope', null],
    ['text[99]', null],
    ['rows[99].a', null],
    ['missing[1:2]', null],
  ])
})

describe('equality (rule 1)', () => {
  table([
    ['1 == 1.0', true],
    ['"1" == 1', false],
    ['true == 1', true],
    ['"a" != "b"', true],
    ['[1, {"a": 2.0}] == [1.0, {"a": 2}]', true],
    ['{"a": 1, "b": 2} == {"b": 2, "a": 1}', true],
    ['{"a": 1} == {"b": 1}', false],
    ['[1] == [1, 2]', false],
    ['[] == {}', false],
    ['2 ** 70 == 2 ** 70', true],
    ['"123456789012345678" == 123456789012345678', false],
  ])
})

describe('order (rule 2)', () => {
  table([
    ['missing < 5', true],
    ['missing < none', true],
    ['none < false', true],
    ['true < 0', true],
    ['99 < "a"', true],
    ['"z" < []', true],
    ['[9] < {}', true],
    ['"3" > 5', false],
    ['"10" > 9', true],
    ['9 < "10"', true],
    ['" 2.5 " >= 2.5', true],
    ['"123456789012345678" > 123456789012345677', true],
    ['"10" < "9"', true],
    ['"3x" > 5', true],
    ['[1, 2] < [1, 3]', true],
    ['[1] < [1, 0]', true],
    ['{"a": 1} < {"a": 2}', true],
    ['1.5 <= 1.5', true],
    ['2 ** 70 > 1.5', true],
  ])
})

describe('membership', () => {
  table([
    ['2.0 in [1, 2]', true],
    ['"ell" in text', true],
    ['5 in "15"', true],
    ['none in "None"', false],
    ['"k" in map', true],
    ['5 in map', true],
    ['"x" not in map', true],
    ['{"a": 1} in [{"a": 1}]', true],
  ])
  test('looking into a number is an error', () => {
    expect(errorOf('{{ 1 in 5 }}').reason).toBe('cannot look for a member in a number')
  })
})

describe('members, items and slices', () => {
  table([
    ['map.k.deep[1]', 20],
    ['map["k"]["deep"][-1]', 20],
    ['map.k.deep.0', 10],
    ['rows.1.a', 2],
    ['map["with space"]', 1],
    ['map[n]', 'five'],
    ['text[0] ~ text[-1]', 'ho'],
    ['rows[1:] | map(attribute="a") | list', [2, 3]],
    ['text[1:3]', 'el'],
    ['text[::-1]', 'olleh'],
    ['[1, 2, 3, 4][3:0:-1]', [4, 3, 2]],
    ['[1, 2, 3, 4][5::-2]', [4, 2]],
    ['[1, 2, 3, 4][-10:2]', [1, 2]],
    ['[1, 2, 3, 4][:-1]', [1, 2, 3]],
    ['[1, 2][none:none]', [1, 2]],
    ['"a😀b"[1]', '😀'],
    ['"a😀b"[::-1]', 'b😀a'],
    ['rows["0"]', null],
    ['rows.length', null],
  ])
  test.each(['[1][::0]', '[1]["a":]', '{}[1:]', '5[1:]'])('%s is an error', (expression) => {
    expect(errorOf(`{{ ${expression} }}`).reason).toMatch(/slice/)
  })
})
