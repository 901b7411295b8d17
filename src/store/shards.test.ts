import { describe, expect, test } from 'vitest'
import { parseShardList, shardFor } from './shards.ts'

test.each([
  ['1', [0, 1, 1, 5, 21, 405]],
  ['320816801799737344', [0, 0, 2, 14, 62, 702]],
  ['-1', [0, 1, 1, 9, 9, 713]],
])('execution %s lands on the same shard everywhere', (id, expected) => {
  expect([1, 2, 4, 16, 64, 1024].map((count) => shardFor(id, count))).toEqual(expected)
})

describe('a list of shards', () => {
  test('takes key-value entries in any order, with defaults', () => {
    expect(parseShardList('user=u;host=db1, host=db2;port=5433;user=u;password=p@ss;dbname=x')).toEqual([
      'postgres://u@db1:5432/noetl',
      'postgres://u:p%40ss@db2:5433/x',
    ])
  })

  test('takes connection urls', () => {
    expect(parseShardList('postgres://u@h/a')).toEqual(['postgres://u@h/a'])
  })

  test.each([
    ['host=a', /entry 1: host and user/],
    ['host=a;user=u;colour=red', /'colour' is not one of/],
    ['host=a;user=u,host=b;user=u;port=abc', /entry 2: port 'abc'/],
    ['host=a;user', /'user' is not one of/],
  ])('refuses %j', (text, message) => {
    expect(() => parseShardList(text)).toThrow(message)
  })
})
