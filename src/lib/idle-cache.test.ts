import { describe, expect, test } from 'vitest'
import type { IdleCache } from './idle-cache.ts'
import { createIdleCache } from './idle-cache.ts'

const keptOf = (cache: IdleCache<string, string>, keys: string): string =>
  keys
    .split('')
    .filter((key) => cache.get(key) !== undefined)
    .join('')

/** Uses, weighs and lets rest. */
const pass = (cache: IdleCache<string, string>, key: string, weight = 1): void => {
  cache.use(key, key)
  cache.weigh(key, weight)
  cache.rest(key)
}

describe('a cache of what rests', () => {
  test('forgets what has rested longest when there are too many (1)', () => {
    const cache = createIdleCache<string, string>({ entries: 2, weight: 100 })
    for (const key of 'ab') pass(cache, key)
    pass(cache, 'a')
    pass(cache, 'c')
    expect([keptOf(cache, 'abc'), cache.size, cache.weight]).toEqual(['ac', 2, 2])
  })

  test('forgets as many as it takes when they are too heavy together (1)', () => {
    const cache = createIdleCache<string, string>({ entries: 100, weight: 10 })
    for (const key of 'abc') pass(cache, key, 3)
    pass(cache, 'd', 6)
    expect([keptOf(cache, 'abcd'), cache.weight]).toEqual(['cd', 9])
  })

  test('notices what grows and shrinks, at rest and in use (1)', () => {
    const cache = createIdleCache<string, string>({ entries: 100, weight: 10 })
    for (const key of 'abc') pass(cache, key, 3)
    cache.weigh('c', 5)
    expect([keptOf(cache, 'abc'), cache.weight]).toEqual(['bc', 8])
    cache.use('c', 'c')
    cache.weigh('c', 1)
    pass(cache, 'd', 5)
    expect([keptOf(cache, 'bcd'), cache.weight]).toEqual(['bcd', 9])
    cache.weigh('c', 3)
    expect([keptOf(cache, 'bcd'), cache.weight]).toEqual(['cd', 8])
  })

  test('never forgets what is in use, which counts all the same (1)', () => {
    const cache = createIdleCache<string, string>({ entries: 2, weight: 10 })
    pass(cache, 'x', 1)
    for (const key of 'abc') {
      cache.use(key, key)
      cache.weigh(key, 6)
    }
    expect([keptOf(cache, 'abcx'), cache.size, cache.weight]).toEqual(['abc', 3, 18])
    cache.rest('a')
    expect([keptOf(cache, 'abc'), cache.weight]).toEqual(['bc', 12])
    cache.rest('b')
    expect([keptOf(cache, 'abc'), cache.weight]).toEqual(['c', 6])
    cache.rest('c')
    expect([keptOf(cache, 'abc'), cache.weight]).toEqual(['c', 6])
  })

  test('deletes at rest and in use, and takes no notice of names it does not know', () => {
    const cache = createIdleCache<string, string>({ entries: 9, weight: 9 })
    pass(cache, 'a', 2)
    cache.use('b', 'b')
    cache.weigh('b', 3)
    for (const key of 'abc') cache.delete(key)
    cache.weigh('a', 5)
    cache.rest('a')
    expect([keptOf(cache, 'ab'), cache.size, cache.weight]).toEqual(['', 0, 0])
  })

  test('an entry beyond the bound does not push out the others, nor they it (3)', () => {
    const cache = createIdleCache<string, string>({ entries: 100, weight: 10 })
    for (const key of 'ab') pass(cache, key, 4)
    pass(cache, 'G', 50)
    for (const key of 'cd') pass(cache, key, 4)
    expect([keptOf(cache, 'abcdG'), cache.weight]).toEqual(['cdG', 8])
    cache.weigh('G', 2)
    expect([keptOf(cache, 'cdG'), cache.weight]).toEqual(['cdG', 10])
  })

  test('one entry beyond the bound rests here at most, and not for ever (3)', () => {
    const cache = createIdleCache<string, string>({ entries: 100, weight: 10 })
    pass(cache, 'G', 50)
    pass(cache, 'H', 50)
    expect(keptOf(cache, 'GH')).toBe('H')
    for (let round = 0; round < 999; round += 1) pass(cache, 'a')
    expect(keptOf(cache, 'H')).toBe('H')
    pass(cache, 'a')
    expect(keptOf(cache, 'aH')).toBe('a')
  })

  test('one that is at work again is not forgotten in the meantime (3)', () => {
    const cache = createIdleCache<string, string>({ entries: 2, weight: 10 })
    pass(cache, 'G', 50)
    cache.use('G', 'G')
    for (let round = 0; round < 1500; round += 1) pass(cache, 'a')
    pass(cache, 'H', 50)
    pass(cache, 'b')
    expect(keptOf(cache, 'G')).toBe('G')
    expect(cache.size).toBe(2)
    cache.rest('G')
    expect(keptOf(cache, 'GH')).toBe('G')
  })
})
