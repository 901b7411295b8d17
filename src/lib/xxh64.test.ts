import { expect, test } from 'vitest'
import { xxh64OfInt64 } from './xxh64.ts'

const SHARD_COUNTS = [2, 4, 16, 64, 1024]

test.each([
  [1n, [1, 1, 5, 21, 405]],
  [42n, [1, 3, 3, 19, 851]],
  [320816801799737344n, [0, 2, 14, 62, 702]],
  [9223372036854775807n, [0, 0, 12, 12, 780]],
  [-1n, [1, 1, 9, 9, 713]],
  [0n, [1, 3, 11, 59, 955]],
])('XXH64 of %s modulo 2, 4, 16, 64 and 1024', (id, expected) => {
  expect(SHARD_COUNTS.map((count) => Number(xxh64OfInt64(id) % BigInt(count)))).toEqual(expected)
})
