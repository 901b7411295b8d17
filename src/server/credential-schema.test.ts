import { describe, expect, test } from 'vitest'
import { schemaProblems } from './credential-schema.ts'

describe('a credential schema', () => {
  test('that asks nothing is always met', () => {
    expect(schemaProblems({ a: 1 }, {})).toEqual([])
    expect(schemaProblems({}, { fields: null, required: null, types: null })).toEqual([])
  })

  test('wants required fields with a value', () => {
    expect(schemaProblems({ a: '', b: null }, { required: ['a', 'b', 'c'] })).toEqual([
      "field 'b' is required",
      "field 'c' is required",
    ])
  })

  test('refuses fields it does not name', () => {
    expect(schemaProblems({ a: 1, toString: 2 }, { fields: ['a'] })).toEqual([
      "field 'toString' is not in the schema",
    ])
  })

  test.each([
    ['string', 'x', 1],
    ['str', 'x', null],
    ['number', 1.5, '1'],
    ['integer', 5, 5.5],
    ['int', 5, '5'],
    ['boolean', false, 'false'],
    ['object', {}, []],
    ['dict', {}, 'x'],
    ['array', [], {}],
    ['list', [1], 'x'],
    ['null', null, 0],
  ])('tells a %s from something else', (type, good, bad) => {
    expect(schemaProblems({ f: good }, { types: { f: type } })).toEqual([])
    expect(schemaProblems({ f: bad }, { types: { f: type } })).toHaveLength(1)
    expect(schemaProblems({}, { types: { f: type } })).toEqual([])
  })

  test('says which type it does not know', () => {
    expect(schemaProblems({ f: 1 }, { types: { f: 'constructor' } })).toEqual([
      "type 'constructor' of field 'f' is not known",
    ])
  })

  test('needs an object', () => {
    expect(schemaProblems('text', {})).toEqual(['data must be an object to have a schema'])
  })
})
