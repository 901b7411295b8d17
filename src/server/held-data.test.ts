import { describe, expect, test } from 'vitest'
import { createHeldData } from './held-data.ts'

const bytes = 10_000
const ITEM = { data: 'x', bytes }

describe('held data', () => {
  test('stays within its budget; what was not used for longest goes first', () => {
    const held = createHeldData(3.5 * bytes)
    for (const ref of ['a', 'b', 'c']) held.hold(ref, ITEM)
    held.get('a')
    held.hold('d', ITEM)
    expect(['a', 'b', 'c', 'd'].filter((ref) => held.get(ref))).toEqual(['a', 'c', 'd'])
  })

  test('counts what is held again once', () => {
    const held = createHeldData(3.5 * bytes)
    for (let round = 0; round < 100; round += 1) held.hold('a', ITEM)
    held.hold('b', ITEM)
    held.hold('c', ITEM)
    expect(held.get('a')).toBe(ITEM)
  })

  test('keeps the newest, however large', () => {
    const held = createHeldData(bytes)
    held.hold('a', ITEM)
    const huge = { data: 'y', bytes: 100 * bytes }
    held.hold('huge', huge)
    expect(held.get('a')).toBeUndefined()
    expect(held.get('huge')).toBe(huge)
  })

  test('forgets, sooner or later, what it knows to be gone', () => {
    const held = createHeldData(bytes)
    for (let n = 0; n < 1000; n += 1) held.hold(`gone-${n}`, { data: undefined, bytes: 0 })
    expect(held.get('gone-0')).toBeUndefined()
    expect(held.get('gone-999')).toEqual({ data: undefined, bytes: 0 })
  })
})
