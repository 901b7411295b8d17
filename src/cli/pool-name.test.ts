import { expect, test } from 'vitest'
import { poolName } from './pool-name.ts'

test.each(['shared', 'gpu', 'eu-west_1', 'team.gpu', 'größe/2', 'x'.repeat(100)])(
  '%j is the name of a pool',
  (name) => {
    expect(poolName(name)).toBe(name)
    expect(poolName(` ${name}\n`)).toBe(name)
  },
)

test.each([
  ['', 'is empty; name one, such as shared'],
  [' \t', 'is empty; name one, such as shared'],
  ['a\nb', 'must be the name of one pool on one line, got "a\\nb"'],
  ['a\u0000b', 'must be the name of one pool on one line, got "a\\u0000b"'],
  ['a\ud800', 'must be the name of one pool on one line, got "a\\ud800"'],
  ['a,b', 'must be the name of one pool; start a worker for each of several pools, got "a,b"'],
  ['a;b', 'must be the name of one pool; start a worker for each of several pools, got "a;b"'],
  ['*', 'must be the name of one pool, not a pattern, got "*"'],
  ['noetl.commands.gpu.>', 'must be the name of one pool, not a pattern, got "noetl.commands.gpu.>"'],
  ['x'.repeat(101), `must be a name of at most 100 characters, got "${'x'.repeat(60)}…"`],
])('%j is none, which is said with the flag (2)', (name, words) => {
  expect(() => poolName(name)).toThrow(`--pool (NOETL_POOL) ${words}`)
})
