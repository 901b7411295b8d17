import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import type { Env, Flags } from './settings.ts'
import { readPool, readSettings } from './settings.ts'

const read = (flags: Flags = {}, env: Env = {}) => readSettings(flags, env, (text) => text.split(','))

test('without flags and environment everything has a default', () => {
  expect(read()).toMatchObject({
    host: '127.0.0.1',
    port: 8082,
    dataDir: resolve('.noetl'),
    slots: 32,
    databaseUrls: [],
    leaseSeconds: 60,
    examples: true,
    insecure: false,
    logLevel: 'warn',
  })
})

test('a flag wins over the environment', () => {
  const env = {
    NOETL_HOST: 'a',
    NOETL_PORT: '1',
    NOETL_DATA_DIR: 'b',
    NOETL_SLOTS: '2',
    NOETL_EXAMPLES: 'true',
  }
  expect(read({}, env)).toMatchObject({ host: 'a', port: 1, dataDir: resolve('b'), slots: 2, examples: true })
  const flags = { host: 'c', port: '3', dataDir: 'd', slots: '0', examples: false }
  expect(read(flags, env)).toMatchObject({
    host: 'c',
    port: 3,
    dataDir: resolve('d'),
    slots: 0,
    examples: false,
  })
})

test('states get the memory that was set, or a part of what there is', () => {
  expect(read({}, { NOETL_STATE_CACHE_MB: '7' }).stateCacheMb).toBe(7)
  expect(read().stateCacheMb).toBeGreaterThanOrEqual(64)
})

test('shards win over one database', () => {
  expect(read({}, { NOETL_DATABASE_URL: 'x' }).databaseUrls).toEqual(['x'])
  expect(read({}, { NOETL_DATABASE_URL: 'x', NOETL_SHARDS: 'a,b' }).databaseUrls).toEqual(['a', 'b'])
})

test.each([
  [{ NOETL_PORT: '' }, /NOETL_PORT/],
  [{ NOETL_PORT: '1.5' }, /NOETL_PORT/],
  [{ NOETL_SLOTS: '-1' }, /NOETL_SLOTS/],
  [{ NOETL_LEASE_SECONDS: '0' }, /NOETL_LEASE_SECONDS must be a whole number from 1 to 86400, got '0'/],
  [{ NOETL_STATE_CACHE_MB: '0' }, /NOETL_STATE_CACHE_MB must be a whole number from 1 to 1048576, got '0'/],
  [{ NOETL_EXAMPLES: 'maybe' }, /NOETL_EXAMPLES must be true or false, got 'maybe'/],
  [
    { NOETL_LOG_LEVEL: 'loud' },
    /NOETL_LOG_LEVEL must be one of debug, info, warn, error, silent, got 'loud'/,
  ],
  [{ NOETL_HOST: ' ' }, /NOETL_HOST/],
])('%j is refused with what it must be', (env: Env, message) => {
  expect(() => read({}, env)).toThrow(message)
})

test('a pool has any name that an execution may ask for, and no other', () => {
  expect(readPool(undefined, {})).toBe('shared')
  expect(readPool(' big memory ', { NOETL_POOL: 'x' })).toBe('big memory')
  expect(() => readPool(undefined, { NOETL_POOL: ' ' })).toThrow('--pool (NOETL_POOL) is empty')
  for (const name of ['a\nb', 'a\tb', 'a\u0000b', 'a\ud800'])
    expect(() => readPool(name, {})).toThrow('must be the name of one pool on one line')
})
