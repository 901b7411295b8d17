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

test('what may not be forgotten stays, however many there are', () => {
  const busy = new Set([1, 2, 3])
  const lru = createLru<string, number>(1, (value) => !busy.has(value))
  for (const value of [1, 2, 3, 4]) lru.set(String(value), value)
  expect([1, 2, 3].map((value) => lru.get(String(value)))).toEqual([1, 2, 3])
  busy.clear()
  lru.set('5', 5)
  expect([lru.size, lru.get('5')]).toEqual([1, 5])
})

test('deleting forgets', () => {
  const lru = createLru<string, number>(2)
  lru.set('a', 1)
  lru.delete('a')
  lru.delete('b')
  expect([lru.get('a'), lru.size]).toEqual([undefined, 0])
})
