import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../contract/json.ts'
import { buildPayload } from './payload.ts'

const build = (set: readonly string[], payload: string | null = null, defaults: JsonObject = {}) =>
  buildPayload({ set, payload }, defaults, (path) => `{"file": ${JSON.stringify(path)}}`)

describe('values (1)', () => {
  test.each([
    ['n=1', { n: 1 }],
    ['n=-1.5e3', { n: -1500 }],
    ['t=1a', { t: '1a' }],
    ['t="1"', { t: '1' }],
    ['b=true', { b: true }],
    ['b=True', { b: 'True' }],
    ['z=null', { z: null }],
    ['e=', { e: '' }],
    ['list=[1, "a"]', { list: [1, 'a'] }],
    ['u=http://h/?a=b', { u: 'http://h/?a=b' }],
    ['id=380455666239586304', { id: '380455666239586304' }],
  ])('%s is %j', (assignment, payload) => {
    expect(build([assignment])).toEqual(payload)
  })
})

describe('dotted keys (2)', () => {
  test('reach into mappings and make them', () => {
    expect(build(['a.b.c=1', 'a.b.d=2', 'a.e=3'])).toEqual({ a: { b: { c: 1, d: 2 }, e: 3 } })
  })

  test('complete the default of the playbook, which stays as it is', () => {
    const defaults = { city: { name: 'Oslo', people: 1 } }
    expect(build(['city.name=Bergen'], null, defaults)).toEqual({ city: { name: 'Bergen', people: 1 } })
    expect(defaults.city.name).toBe('Oslo')
  })

  test('change the payload, not the default behind it', () => {
    expect(build(['a.c=2'], '{"a": {"b": 1}}', { a: { z: 9 } })).toEqual({ a: { b: 1, c: 2 } })
  })

  test('a default that holds templates is not copied: they would not be rendered', () => {
    expect(() => build(['a.c=2'], null, { a: { list: ['{{ x }}'] } })).toThrow(
      "the default of 'a' holds templates",
    )
  })
})

describe('what cannot be meant (3)', () => {
  test.each([
    [['x'], null, /write it as key=value/],
    [['=1'], null, /write it as key=value/],
    [['a..b=1'], null, /is not a key/],
    [['__proto__.x=1'], null, /is not a key/],
    [['a=1', 'a.b=2'], null, /there is no 'b' inside 1/],
    [[], '{', /--payload is not JSON/],
    [[], '3', /must be a JSON object/],
    [[], '@', /needs the name of a file/],
  ])('%j with payload %j', (set, payload, message) => {
    expect(() => build(set, payload)).toThrow(message)
  })

  test('a payload of a file', () => {
    expect(build([], '@some/file.json')).toEqual({ file: 'some/file.json' })
  })
})
