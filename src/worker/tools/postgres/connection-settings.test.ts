import { expect, test } from 'vitest'

import type { JsonObject } from '../../../contract/json.ts'
import { connectionSettings, searchPath } from './connection-settings.ts'

const PLAIN = { host: 'localhost', port: 5432, user: 'postgres', password: '', database: 'postgres' }

test.each<[string, JsonObject, JsonObject]>([
  ['defaults', {}, {}],
  [
    'fields',
    { host: 'h', port: '6000', user: 'u', password: 'p', database: 'd' },
    { host: 'h', port: 6000, user: 'u', password: 'p', database: 'd' },
  ],
  [
    'a stored credential',
    { auth: { type: 'postgres', db_host: 'h', db_port: 6000, db_user: 'u', db_password: 'p', db_name: 'd' } },
    { host: 'h', port: 6000, user: 'u', password: 'p', database: 'd' },
  ],
  ['other spellings', { credential: { data: { username: 'u', dbname: 'd' } } }, { user: 'u', database: 'd' }],
  [
    'fields of the tool over the credential',
    { database: 'mine', auth: { host: 'h', database: 'd' } },
    { host: 'h', database: 'mine' },
  ],
  [
    'a URL',
    { connection_string: 'postgresql://u%40x:p%2F%3A@h:6000/d?sslmode=disable' },
    { host: 'h', port: 6000, user: 'u@x', password: 'p/:', database: 'd', tls: false },
  ],
  [
    'a URL with a driver and a socket',
    { dsn: 'postgresql+psycopg:///d?host=/run/pg' },
    { host: '/run/pg', database: 'd', tls: false },
  ],
  [
    'keywords',
    { dsn: `host=h dbname='my db' password='it\\'s'` },
    { host: 'h', database: 'my db', password: "it's" },
  ],
  [
    'a URL in the credential',
    { auth: { url: 'postgres://u@h/d' }, user: 'me' },
    { host: 'h', user: 'me', database: 'd' },
  ],
  ['the options of the pool', { pool: { name: 'x', max_size: '3' } }, { maxConnections: 3 }],
])('are read from %s', async (_name, config, expected) => {
  expect(await connectionSettings(config)).toMatchObject({ ...PLAIN, ...expected })
})

test('equal settings share a key, others do not, and passwords do not show (rule 2)', async () => {
  const keys = await Promise.all(
    [
      { host: 'h' },
      { auth: { db_host: 'h' } },
      { host: 'h', password: 's3cret' },
      { host: 'h', sslmode: 'require' },
    ].map(async (config) => (await connectionSettings(config)).key),
  )
  expect(keys[1]).toBe(keys[0])
  expect(new Set(keys).size).toBe(3)
  expect(keys.join()).not.toContain('s3cret')
})

test.each<[JsonObject, unknown]>([
  [{}, { optional: true, options: { rejectUnauthorized: false } }],
  [{ sslmode: 'require' }, { optional: false, options: { rejectUnauthorized: false } }],
  [{ ssl: true }, { optional: false, options: { rejectUnauthorized: false } }],
  [{ sslmode: 'verify-full' }, { optional: false, options: { rejectUnauthorized: true } }],
  [
    { sslmode: 'verify-ca', sslrootcert: '-----BEGIN X' },
    { optional: false, options: { ca: '-----BEGIN X', rejectUnauthorized: true } },
  ],
  [{ sslmode: 'disable' }, false],
])('encryption of %j (rule 3)', async (config, tls) => {
  const found = (await connectionSettings(config)).tls
  if (tls === false) expect(found).toBe(false)
  else expect(found).toMatchObject(tls as object)
})

test.each<[JsonObject, string]>([
  [{ port: 'x' }, 'port must be a whole number'],
  [{ sslmode: 'maybe' }, 'sslmode must be'],
  [{ dsn: 'nonsense' }, 'connection string'],
  [{ auth: 'prod_db' }, 'prod_db'],
])('%j is refused', async (config, message) => {
  await expect(connectionSettings(config)).rejects.toThrow(message)
})

test('the search path quotes names', () => {
  expect(searchPath({ schema: 'app, My"Schema' })).toBe('"app", "My""Schema"')
  expect(searchPath({ auth: { schema: 'app' } })).toBe('"app"')
  expect(searchPath({})).toBeNull()
})

test('a key that is taken for the name of a file is not told', async () => {
  const key = 'MIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC'
  const failure = connectionSettings({ host: 'h', sslmode: 'require', sslkey: key })
  await expect(failure).rejects.toThrow('Cannot read the certificate or key: ENOENT')
  await expect(connectionSettings({ host: 'h', sslmode: 'require', sslkey: '/no/key.pem' })).rejects.toThrow(
    'Cannot read /no/key.pem: ENOENT',
  )
})
