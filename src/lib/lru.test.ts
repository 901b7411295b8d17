import { expect, test } from 'vitest'
import { createLru } from './lru.ts'

test('forgets what was not used for the longest time', () => {
  const lru = createLru<string, number>(2)
  lru.set('a', 1)
  lru.set('b', 2)
  expect(lru.get('a')).toBe(1)
  lru.set('c', 3)
  expect([lru.get('a'), lru.get('b'), lru.get('c'), lru.size]).toEqual([1, undefined, 3, 2])
})

test('setting again makes young again and keeps the size', () => {
  const lru = createLru<string, number>(2)
  lru.set('a', 1)
  lru.set('b', 2)
  lru.set('a', 10)
  lru.set('c', 3)
  expect([lru.get('a'), lru.get('b'), lru.size]).toEqual([10, undefined, 2])
})

test('forgets as many as are too heavy together, and never the newest', () => {
  const lru = createLru<string, number>(100, { limit: 10, of: (value) => value })
  lru.set('a', 4)
  lru.set('b', 4)
  lru.set('c', 2)
  expect([lru.get('a'), lru.size]).toEqual([4, 3])
  lru.set('d', 5)
  expect([lru.get('a'), lru.get('b'), lru.get('c'), lru.get('d')]).toEqual([4, undefined, undefined, 5])
  lru.set('e', 50)
  expect([lru.size, lru.get('e')]).toEqual([1, 50])
  lru.set('f', 1)
  expect([lru.size, lru.get('f')]).toEqual([1, 1])
})

test('what was set again or deleted weighs no more', () => {
  const lru = createLru<string, number>(100, { limit: 10, of: (value) => value })
  lru.set('a', 9)
  lru.set('a', 3)
  lru.set('b', 7)
  expect(lru.size).toBe(2)
  lru.delete('b')
  lru.delete('b')
  lru.set('c', 7)
  expect([lru.get('a'), lru.get('c')]).toEqual([3, 7])
})

test('deleting forgets', () => {
  const lru = createLru<string, number>(2)
  lru.set('a', 1)
  lru.delete('a')
  lru.delete('b')
  expect([lru.get('a'), lru.size]).toEqual([undefined, 0])
})
