import { expect, test } from 'vitest'
import { createFailureLimiter } from './failure-limiter.ts'

const limiter = (options: { burst?: number; maxAddresses?: number } = {}) => {
  let now = 0
  const made = createFailureLimiter({ burst: 3, refillMs: 1000, ...options, now: () => now })
  const fail = (address: string, times = 1): void => {
    for (let count = 0; count < times; count += 1) made.failed(address)
  }
  return { ...made, fail, pass: (ms: number) => void (now += ms) }
}

test('an address may fail some times at once and once more after a while (1)', () => {
  const { waitSeconds, fail, pass } = limiter()
  fail('a', 2)
  expect(waitSeconds('a')).toBe(0)
  fail('a')
  expect(waitSeconds('a')).toBe(1)
  pass(1000)
  expect(waitSeconds('a')).toBe(0)
  fail('a')
  expect(waitSeconds('a')).toBe(1)
  pass(3000)
  fail('a', 2)
  expect(waitSeconds('a')).toBe(0)
})

test('however often it fails, it waits no longer than until the next attempt (1)', () => {
  const { waitSeconds, fail } = limiter()
  fail('a', 1000)
  expect(waitSeconds('a')).toBe(1)
  expect(waitSeconds('b')).toBe(0)
})

test('memory is bounded (2)', () => {
  const { waitSeconds, fail } = limiter({ burst: 1, maxAddresses: 2 })
  fail('a')
  fail('b')
  fail('c')
  expect([waitSeconds('a'), waitSeconds('b'), waitSeconds('c')]).toEqual([0, 1, 1])
})

test.each([
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
  ['2001:db8::1', '2001:0db8:0000:0000:1::', true],
  ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ['::ffff:10.0.0.1', '10.0.0.1', true],
  ['::ffff:10.0.0.1', '::ffff:10.0.0.2', false],
  ['fe80::1%eth0', 'fe80::2', true],
  ['10.0.0.1', '10.0.0.2', false],
])('%s and %s count together: %s (3)', (one, other, together) => {
  const { waitSeconds, fail } = limiter({ burst: 1 })
  fail(one)
  expect(waitSeconds(other) > 0).toBe(together)
})
