import { describe, expect, test } from 'vitest'
import { decodeBase64, encodeBase64 } from './base64.ts'
import { placeOf } from './errors.ts'
import { suggest } from './suggest.ts'
import { createCache } from './template-cache.ts'

describe('base64', () => {
  test.each(['', 'a', 'ab', 'abc', 'äöü', '😀 smile', '\u0000\u007f\u0080\u07ff\u0800\uffff'])(
    'round trip of %j',
    (text) => {
      expect(encodeBase64(text)).toBe(Buffer.from(text, 'utf8').toString('base64'))
      expect(decodeBase64(encodeBase64(text))).toBe(text)
    },
  )
  test.each(['a', 'ab!=', '////', '7aCA', 'wIA=', '9JCAgA==', '4oI='])(
    '%j is not base64 of text',
    (encoded) => {
      expect(decodeBase64(encoded)).toBeUndefined()
    },
  )
  test('padding may be missing and lines may be broken', () => {
    expect(decodeBase64('YW\nJj')).toBe('abc')
    expect(decodeBase64('YQ')).toBe('a')
  })
  test('half of a character becomes the replacement character', () => {
    expect(encodeBase64('\ud83d')).toBe('77+9')
  })
})

describe('suggest', () => {
  test.each([
    ['uper', 'upper'],
    ['lenght', 'length'],
    ['UPPER', 'upper'],
    ['xyzzy', undefined],
    ['a'.repeat(100), undefined],
  ])('%s: %s', (word, expected) => {
    expect(suggest(word, ['upper', 'lower', 'length'])).toBe(expected)
  })
})

describe('cache', () => {
  test('stays bounded and keeps what is used', () => {
    const cache = createCache<number>(10, 1000)
    cache.set('used', -1)
    for (let index = 0; index < 100; index += 1) {
      cache.set(`key ${index}`, index)
      expect(cache.get('used')).toBe(-1)
    }
    expect(cache.get('key 0')).toBeUndefined()
    expect(cache.get('key 99')).toBe(99)
  })
  test('is bounded by the size of its keys too', () => {
    const cache = createCache<number>(1000, 10)
    cache.set('x'.repeat(11), 1)
    expect(cache.get('x'.repeat(11))).toBeUndefined()
    for (let index = 0; index < 9; index += 1) cache.set(`abcd${index}`, index)
    expect(cache.get('abcd0')).toBeUndefined()
    expect(cache.get('abcd8')).toBe(8)
  })
  test('counts what an entry takes, where that is known, also when it is used again', () => {
    const cache = createCache<number>(1000, 10, (_key, size) => size)
    cache.set('too large', 11)
    expect(cache.get('too large')).toBeUndefined()
    cache.set('a', 6)
    cache.set('b', 6)
    expect(cache.get('a')).toBe(6)
    cache.set('c', 6)
    expect([cache.get('b'), cache.get('a')]).toEqual([undefined, 6])
  })
})

test('placeOf counts lines and columns from one', () => {
  expect(placeOf('ab\ncd', 0)).toEqual({ line: 1, column: 1 })
  expect(placeOf('ab\ncd', 2)).toEqual({ line: 1, column: 3 })
  expect(placeOf('ab\ncd', 3)).toEqual({ line: 2, column: 1 })
  expect(placeOf('ab\ncd', 5)).toEqual({ line: 2, column: 3 })
})
