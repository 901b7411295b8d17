import { expect, test } from 'vitest'

import type { Json, JsonObject } from '../../../contract/json.ts'
import { bindNames } from './named-params.ts'

test.each<[string, JsonObject, string, Json[]]>([
  ['select :a, :b, :a', { a: 1, b: 'x' }, 'select $1, $2, $1', [1, 'x']],
  ['select %(a)s::int, %(b)s', { a: 1, b: null }, 'select $1::int, $2', [1, null]],
  [`select ':a', ":a", $$:a$$, :a -- :a`, { a: 1 }, `select ':a', ":a", $$:a$$, $1 -- :a`, [1]],
  ['select x::a, y[1:n], :a', { a: 1 }, 'select x::a, y[1:n], $1', [1]],
  ['select 1', { unused: 1 }, 'select 1', []],
])('%s', (text, params, bound, values) => {
  expect(bindNames(text, params)).toEqual({ text: bound, values })
})

test('refuses %(name)s without a value (rule 2)', () => {
  expect(() => bindNames('select %(a)s', {})).toThrow('params has no value for %(a)s')
})
