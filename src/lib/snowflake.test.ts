import { describe, expect, test } from 'vitest'
import {
  createSnowflake,
  firstSnowflakeAt,
  machineIdOf,
  SNOWFLAKE_EPOCH_MS,
  snowflakeTime,
} from './snowflake.ts'

const clockOf = (...times: number[]) => {
  let index = 0
  return () => SNOWFLAKE_EPOCH_MS + (times[Math.min(index++, times.length - 1)] ?? 0)
}

describe('snowflake ids', () => {
  test('put milliseconds, machine and sequence in 41, 10 and 12 bits', () => {
    const next = createSnowflake({ machineId: 5, now: clockOf(1) })
    expect(next()).toBe(String((1n << 22n) | (5n << 12n)))
    expect(next()).toBe(String((1n << 22n) | (5n << 12n) | 1n))
  })

  test('restart the sequence in a new millisecond', () => {
    const next = createSnowflake({ machineId: 0, now: clockOf(1, 1, 2) })
    next()
    next()
    expect(next()).toBe(String(2n << 22n))
  })

  test('stay increasing when the clock goes back (rule 2)', () => {
    const next = createSnowflake({ machineId: 0, now: clockOf(10, 4, 3, 11) })
    const ids = [next(), next(), next(), next()].map(BigInt)
    expect(ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? 0n))).toBe(true)
  })

  test('borrow the next millisecond when one is full (rule 2)', () => {
    const next = createSnowflake({ machineId: 1, now: clockOf(7) })
    const ids = new Set(Array.from({ length: 10_000 }, next))
    expect(ids.size).toBe(10_000)
  })

  test('tell their time', () => {
    const next = createSnowflake({ machineId: 1023, now: () => 1_763_000_000_000 })
    expect(snowflakeTime(next())).toBe(1_763_000_000_000)
    expect(snowflakeTime(firstSnowflakeAt(1_763_000_000_000))).toBe(1_763_000_000_000)
  })

  test('refuse a machine id outside ten bits', () => {
    expect(() => createSnowflake({ machineId: 1024, now: () => 0 })).toThrow(/0 to 1023/)
  })
})

test.each([
  ['', 805],
  ['noetl-server-local', 465],
  ['noetl-server-0', 862],
  ['noetl-server-1', 273],
  ['pod-0', 601],
  ['pod-1', 166],
])('the machine id of host %j is %i', (host, id) => {
  expect(machineIdOf(host)).toBe(id)
})
