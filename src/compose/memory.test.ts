import { expect, test } from 'vitest'
import { defaultStateCacheMb, memoryLimits } from './memory.ts'

const GIGABYTE = 1024 ** 3

test.each([
  ['the heap', { machine: 64 * GIGABYTE, confinement: 0, heap: 4 * GIGABYTE }, 1024],
  ['the container', { machine: 64 * GIGABYTE, confinement: GIGABYTE, heap: 4 * GIGABYTE }, 256],
  ['the machine', { machine: 2 * GIGABYTE, confinement: 2 ** 63, heap: 4 * GIGABYTE }, 512],
])('states get a quarter of what is scarcest: %s', (_name, limits, expected) => {
  expect(defaultStateCacheMb(limits)).toBe(expected)
})

test('however little there is, states get 64 MB', () => {
  expect(defaultStateCacheMb({ machine: GIGABYTE, confinement: GIGABYTE / 8, heap: GIGABYTE })).toBe(64)
})

test('the system tells its limits', () => {
  expect(memoryLimits().machine).toBeGreaterThan(0)
  expect(memoryLimits().heap).toBeGreaterThan(0)
  expect(defaultStateCacheMb()).toBeGreaterThanOrEqual(64)
})
