/** Filters that make numbers and truth values, and that count with numbers. */
import { expect, test } from 'vitest'
import { textOf } from '../evaluating.suite.ts'
import { testFilterErrors, testFilters } from './filter.suite.ts'
import { NUMBER_FILTERS } from './number-filters.ts'

testFilters(NUMBER_FILTERS, {
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
})

test.each([
  ['"1.50" | float', '1.5'],
  ['5 | float', '5.0'],
  ['5.4 | round', '5.0'],
  ['missing | float', '0.0'],
])('%s prints as a float: %s', (expression, expected) => {
  expect(textOf(`{{ ${expression} }}`)).toBe(expected)
})

testFilterErrors([
  ['"a" | abs', 'abs needs a number, found text'],
  ['1.5 | round(0, "up")', 'method of round'],
  ['"x" | int(base=99)', 'base must be between'],
])
