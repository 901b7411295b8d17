import { describe, expect, test } from 'vitest'

import type { Credential } from '../../contract/command.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { credentialAsFields } from './credential-fields.ts'
import { namesCredentials, withCredentials } from './named-credentials.ts'

const fieldsOf = (type: string, data: Json, kind = ''): JsonObject =>
  credentialAsFields('it', { name: 'it', type, data }, kind)

describe('a credential as fields', () => {
  const PG = { host: 'h', port: '5433', user: 'u', password: 'p', database: 'd' }
  test.each<[string, Json, JsonObject]>([
    [
      'postgres',
      { db_host: 'h', db_port: '5433', db_user: 'u', db_password: 'p', db_name: 'd', sslmode: 'require' },
      { type: 'postgres', ...PG, sslmode: 'require' },
    ],
    ['postgresql', PG, { type: 'postgres', ...PG }],
    [
      'postgres',
      { username: 'u', dbname: 'd', schema: 's' },
      { type: 'postgres', user: 'u', database: 'd', schema: 's' },
    ],
    ['postgres', 'postgresql://u:p@h/d', { type: 'postgres', connection_string: 'postgresql://u:p@h/d' }],
    ['bearer', { access_token: 't' }, { type: 'bearer', token: 't' }],
    ['bearer', 't', { type: 'bearer', token: 't' }],
    ['api_key', { key: 'k', header: 'X-K' }, { type: 'api_key', api_key: 'k', header: 'X-K' }],
    ['basic', { user: 'u', db_password: 'p' }, { type: 'basic', username: 'u', password: 'p' }],
    ['nats', { nats_url: 'nats://h', stream: 's' }, { type: 'nats', url: 'nats://h', stream: 's' }],
    [
      'snowflake',
      { sf_account: 'a', sf_user: 'u', role: 'r', sf_role: 'x' },
      { type: 'snowflake', account: 'a', user: 'u', role: 'r' },
    ],
    ['generic', { token: 't' }, { token: 't' }],
    ['keychain', { username: 'u', password: 'p' }, { username: 'u', password: 'p' }],
    ['gcs', { bucket: 'b' }, { type: 'gcs', bucket: 'b' }],
  ])('of type %s: %j', (type, data, expected) => {
    expect(fieldsOf(type, data)).toEqual(expected)
  })

  test('that has none, or none for the tool, is refused by name and without its data', () => {
    expect(() => fieldsOf('generic', ['a-secret'])).toThrow(
      "The credential 'it' of type generic holds no mapping of fields",
    )
    expect(() => fieldsOf('bearer', { token: 'a-secret' }, 'postgres')).toThrow(
      "The credential 'it' of type bearer has nothing that a tool of kind postgres can use",
    )
  })
})

describe('where a block names credentials', () => {
  const stored: Readonly<Record<string, Omit<Credential, 'name'>>> = {
    pg: { type: 'postgres', data: { db_host: 'h', db_password: 'p' } },
    api: { type: 'bearer', data: { token: 't' } },
  }
  const find = (alias: string): Promise<Credential> => {
    const found = stored[alias]
    return found === undefined ? Promise.reject(new Error(alias)) : Promise.resolve({ name: alias, ...found })
  }
  const pg = { type: 'postgres', host: 'h', password: 'p' }

  test.each<[string, string, JsonObject, JsonObject]>([
    ['by name', 'http', { url: 'x', auth: 'api' }, { url: 'x', auth: { type: 'bearer', token: 't' } }],
    ['by its other field', 'postgres', { credential: ' pg ' }, { credential: pg }],
    [
      'by source and key, with fields of its own',
      'postgres',
      { auth: { source: 'credential', key: 'pg', database: 'mine', host: 'other' } },
      { auth: { ...pg, host: 'other', database: 'mine' } },
    ],
    [
      'several at once',
      'duckdb',
      {
        auth: {
          main: { type: 'postgres', credential: 'pg' },
          web: { source: 'credential', key: 'api' },
          x: 1,
        },
      },
      { auth: { main: pg, web: { type: 'bearer', token: 't' }, x: 1 } },
    ],
    [
      'on both sides of a transfer',
      'transfer',
      {
        source: { type: 'http', url: 'u', auth: 'api' },
        target: { type: 'postgres', table: 't', credential: 'pg' },
      },
      {
        source: { type: 'http', url: 'u', auth: { type: 'bearer', token: 't' } },
        target: { type: 'postgres', table: 't', credential: pg },
      },
    ],
  ])('%s', async (_how, kind, block, expected) => {
    expect(namesCredentials(kind, block)).toBe(true)
    expect(await withCredentials(kind, block, find)).toEqual(expected)
  })

  test.each<[string, JsonObject]>([
    ['nothing', {}],
    ['an empty name', { auth: ' ', credential: null }],
    ['a credential written out', { auth: { type: 'bearer', credential: 'token-itself' } }],
    ['a source that is no transfer', { source: { auth: 'pg' } }],
  ])('not in %s', (_what, block) => {
    expect(namesCredentials('http', block)).toBe(false)
  })
})
