import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { aCall } from '../test-support.ts'
import { timeoutFailure } from '../time-limit.ts'
import type { Tool, ToolResult } from '../tool.ts'
import { createDatabasePaths } from './duckdb/database-path.ts'
import { createDuckdbTool, createSharedEngine } from './duckdb.ts'
import { createHttpTool } from './http.ts'
import { createPostgresTool } from './postgres.ts'
import { createTransferTool } from './transfer.ts'

const server = createServer((request, answer) => {
  if (request.url === '/items') {
    const items = [
      { id: 1, name: 'one', user: { id: 10 }, tags: ['a', 'b'] },
      { id: 2, name: null, user: { id: 20 }, extra: 9_007_199_254_740_991 },
    ]
    answer.setHeader('content-type', 'application/json')
    answer.end(JSON.stringify({ page: { items } }))
  } else {
    answer.statusCode = 503
    answer.end('busy')
  }
})

let database: TestDatabase
let directory: string
let url: string
let transfer: Tool
let duckdb: Tool
const postgres = createPostgresTool()
const http = createHttpTool()
const engine = createSharedEngine()

beforeAll(async () => {
  database = await createTestDatabase({ empty: true })
  directory = await mkdtemp(join(tmpdir(), 'noetl-transfer-'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const paths = createDatabasePaths(directory, directory)
  transfer = createTransferTool({ duckdb: { engine, paths }, http })
  duckdb = createDuckdbTool({ engine, paths })
})
afterAll(async () => {
  await Promise.all([
    transfer.close?.(),
    postgres.close(),
    http.close(),
    new Promise((resolve) => server.close(resolve)),
  ])
  await database.drop()
  await rm(directory, { recursive: true, force: true })
})

const sql = async (query: string): Promise<Json> => {
  const result = await postgres.run(aCall({ connection_string: database.url, query }))
  expect(result.error).toBeUndefined()
  return (result.data as JsonObject)['rows'] ?? null
}
const lite = async (query: string): Promise<Json> => {
  const result = await duckdb.run(aCall({ database: 'x.duckdb', query }))
  expect(result.error).toBeUndefined()
  return (result.data as JsonObject)['rows'] ?? null
}
const pg = (over: JsonObject): JsonObject => ({ type: 'postgres', connection: database.url, ...over })
const duck = (over: JsonObject): JsonObject => ({ type: 'duckdb', database: 'x.duckdb', ...over })
const run = async (config: JsonObject, signal?: AbortSignal): Promise<ToolResult> =>
  transfer.run(aCall(config, signal === undefined ? {} : { signal }))
const ok = async (config: JsonObject): Promise<JsonObject> => {
  const result = await run(config)
  expect(result.error).toBeUndefined()
  return result.data as JsonObject
}

describe('from PostgreSQL to PostgreSQL', () => {
  test('copies every type as it is, in chunks (rule 1)', async () => {
    await sql(`create table a1 (id bigint, n numeric(25, 5), t timestamptz, j jsonb, b bytea, l int[], c char(3), v varchar(4), u uuid, o boolean);
      insert into a1 select i, i + 0.12345, '2024-01-02 03:04:05.6+02', '{"a": [1, null]}', '\\xdeadbeef', '{1,NULL,3}', 'ab', 'wxyz', '8d3c1e6c-6b2a-4e5c-9c39-0d9a3f2b7c11', i % 2 = 0
      from generate_series(9007199254740990, 9007199254740994) i;
      insert into a1 (id) values (null);
      create table a2 (like a1)`)
    expect(
      await ok({ source: pg({ query: 'select * from a1;' }), target: pg({ table: 'a2' }), chunk_size: 2 }),
    ).toEqual({
      status: 'success',
      direction: 'postgres_to_postgres',
      source_type: 'postgres',
      target_type: 'postgres',
      mode: 'append',
      rows_transferred: 6,
      chunks_processed: 3,
      target_table: 'a2',
      columns: ['id', 'n', 't', 'j', 'b', 'l', 'c', 'v', 'u', 'o'],
    })
    expect(await sql('select count(*)::int as n from (select * from a1 except select * from a2) x')).toEqual([
      { n: 0 },
    ])
  })

  test('takes a table with a schema, and columns by mapping', async () => {
    await sql(`create schema s; create table s."Items" (key int, label text, city text);
      create table b1 (id int, doc jsonb); insert into b1 values (1, '{"user": {"city": "Paris"}}')`)
    const data = await ok({
      source: pg({ table: 'b1' }),
      target: pg({ table: 's."Items"', mapping: { key: 'id', city: 'doc.user.city' } }),
    })
    expect(data).toMatchObject({ rows_transferred: 1, columns: ['key', 'city'] })
    expect(await sql('select * from s."Items"')).toEqual([{ key: 1, label: null, city: 'Paris' }])
  })

  test('replace empties and fills in one transaction (rule 3)', async () => {
    await sql(`create table r1 (id int primary key); insert into r1 values (1);
      create table r3 (id int); insert into r3 values (5), (6)`)
    await ok({ source: pg({ query: 'select id from r3' }), target: pg({ table: 'r1' }), mode: 'replace' })
    expect(await sql('select id from r1 order by id')).toEqual([{ id: 5 }, { id: 6 }])
    const { error } = await run({
      source: pg({ query: 'select * from (values (8), (8)) v (id)' }),
      target: pg({ table: 'r1' }),
      mode: 'replace',
    })
    expect(error).toMatchObject({ kind: 'db_constraint', code: 'PG_23505' })
    expect(error?.message).toMatch(/^target: /)
    expect(await sql('select id from r1 order by id')).toEqual([{ id: 5 }, { id: 6 }])
  })

  test('replace of an empty source empties the target', async () => {
    await sql('create table e1 (id int); insert into e1 values (1)')
    const data = await ok({
      source: pg({ query: 'select 1 as id where false' }),
      target: pg({ table: 'e1' }),
      mode: 'replace',
    })
    expect(data).toMatchObject({ rows_transferred: 0, chunks_processed: 0, columns: ['id'] })
    expect(await sql('select * from e1')).toEqual([])
  })

  test('upsert writes over rows with the same key; of several the last counts (rule 3)', async () => {
    await sql(
      `create table u1 (id int primary key, name text, kept text default 'k'); insert into u1 values (1, 'old', 'x')`,
    )
    const source = pg({ query: `select * from (values (1, 'a'), (2, 'b'), (1, 'c')) v (id, name)` })
    expect(await ok({ source, target: pg({ table: 'u1' }), mode: 'upsert', key: 'id' })).toMatchObject({
      rows_transferred: 3,
      mode: 'upsert',
    })
    expect(await sql('select * from u1 order by id')).toEqual([
      { id: 1, name: 'c', kept: 'x' },
      { id: 2, name: 'b', kept: 'k' },
    ])
  })

  test('a later chunk that fails takes the earlier ones back (rule 2)', async () => {
    await sql('create table f1 (id int primary key)')
    const { error } = await run({
      source: pg({ query: 'select i % 3 as id from generate_series(0, 3) i' }),
      target: pg({ table: 'f1' }),
      chunk_size: 1,
    })
    expect(error).toMatchObject({ kind: 'db_constraint' })
    expect(await sql('select * from f1')).toEqual([])
  })

  test('runs a statement of the author for each row', async () => {
    await sql('create table q1 (id int, name text)')
    const source = pg({ query: `select 1 as id, 'x' as name` })
    await ok({ source, target: pg({ query: 'insert into q1 values (:id::int, upper(:name))' }) })
    await ok({ source, target: pg({ query: 'insert into q1 values ($1::int, $2)' }) })
    expect(await sql('select * from q1')).toEqual([
      { id: 1, name: 'X' },
      { id: 1, name: 'x' },
    ])
  })
})

describe('from documents', () => {
  test('of an HTTP answer, at a path, to the types of the columns', async () => {
    await sql('create table h1 (id int, name varchar(10), owner int, tags text[], extra bigint)')
    const data = await ok({
      source: { type: 'http', url: `${url}/items`, data_path: 'page.items' },
      target: pg({
        table: 'h1',
        mapping: { id: 'id', name: 'name', owner: 'user.id', tags: 'tags', extra: 'extra' },
      }),
    })
    expect(data).toMatchObject({ direction: 'http_to_postgres', rows_transferred: 2 })
    expect(await sql('select * from h1 order by id')).toEqual([
      { id: 1, name: 'one', owner: 10, tags: ['a', 'b'], extra: null },
      { id: 2, name: null, owner: 20, tags: null, extra: 9_007_199_254_740_991 },
    ])
  })

  test('an answer that is an error is the error of the source', async () => {
    const { error } = await run({
      source: { type: 'http', url: `${url}/x` },
      target: pg({ table: 'h1' }),
    })
    expect(error).toMatchObject({ kind: 'server_error', code: 'HTTP_503', retryable: true })
    expect(error?.message).toMatch(/^source: /)
  })

  test('a path that leads nowhere is named', async () => {
    const source = { type: 'http', url: `${url}/items`, data_path: 'items' }
    const { error } = await run({ source, target: pg({ table: 'h1' }) })
    expect(error).toMatchObject({ kind: 'config' })
    expect(error?.message).toContain('page')
  })

  test('that the playbook has at hand', async () => {
    await sql('create table d1 (id int, doc jsonb)')
    await ok({ source: { type: 'rows', rows: [{ id: 1, doc: { a: [1] } }] }, target: pg({ table: 'd1' }) })
    expect(await sql('select * from d1')).toEqual([{ id: 1, doc: { a: [1] } }])
  })
})

describe('with DuckDB', () => {
  test('there and back again', async () => {
    await sql(`create table k1 (id bigint, t timestamptz, j jsonb, b bytea, l int[], d date);
      insert into k1 values (9007199254740993, '2024-01-02 03:04:05Z', '{"a": 1}', '\\x0001ff', '{1,2}', '2024-02-29'), (2, null, null, null, null, null);
      create table k2 (like k1)`)
    await lite('create table k (id bigint, t timestamptz, j json, b blob, l int[], d date)')
    expect(
      await ok({ source: pg({ table: 'k1' }), target: duck({ table: 'k' }), mode: 'replace', chunk_size: 1 }),
    ).toMatchObject({ direction: 'postgres_to_duckdb', rows_transferred: 2, chunks_processed: 2 })
    expect(await ok({ source: duck({ query: 'from k' }), target: pg({ table: 'k2' }) })).toMatchObject({
      direction: 'duckdb_to_postgres',
      rows_transferred: 2,
    })
    expect(await sql('select count(*)::int as n from (select * from k1 except select * from k2) x')).toEqual([
      { n: 0 },
    ])
  })

  test('from one table of a file to another, with structures and upsert', async () => {
    await lite(`create table m1 as select * from (values (1, {'a': 1}, 'x'), (1, {'a': 2}, 'y')) v (id, s, n);
      create table m2 (id int primary key, s struct(a int), n varchar); insert into m2 values (1, null, 'old'), (3, null, 'stays')`)
    await ok({ source: duck({ table: 'm1' }), target: duck({ table: 'm2' }), mode: 'upsert', key: ['id'] })
    expect(await lite('from m2 order by id')).toEqual([
      { id: 1, s: { a: 2 }, n: 'y' },
      { id: 3, s: null, n: 'stays' },
    ])
  })

  test('an error leaves the file as it was (rule 2)', async () => {
    await lite('create table n1 (id int); insert into n1 values (1)')
    const { error } = await run({
      source: { type: 'rows', rows: [{ id: 2 }, { id: 'two' }] },
      target: duck({ table: 'n1' }),
      mode: 'replace',
      chunk_size: 1,
    })
    expect(error).toMatchObject({ kind: 'db_error', code: 'DUCKDB_CONVERSION' })
    expect(await lite('from n1')).toEqual([{ id: 1 }])
  })
})

describe('mistakes', () => {
  test.each<[string, JsonObject, string]>([
    ['no type', { source: {}, target: {} }, 'source.type is missing'],
    ['an unknown type', { source: { type: 'oracle' }, target: {} }, 'postgres, duckdb, http, rows'],
    [
      'no table',
      { source: { type: 'rows', rows: [] }, target: { type: 'postgres' } },
      'target.table is missing',
    ],
    [
      'upsert without key',
      { source: { type: 'rows', rows: [] }, target: { type: 'duckdb' }, mode: 'upsert' },
      'key',
    ],
    [
      'a mode that is none',
      { source: { type: 'rows' }, target: { type: 'duckdb' }, mode: 'merge' },
      'append, replace, upsert',
    ],
  ])('%s', async (_, config, text) => {
    const { error } = await run(config)
    expect(error).toMatchObject({ kind: 'config', retryable: false })
    expect(error?.message).toContain(text)
  })

  test('columns that the target does not have are named', async () => {
    await sql('create table w1 (id int)')
    const { error } = await run({
      source: pg({ query: 'select 1 as id, 2 as nope' }),
      target: pg({ table: 'w1' }),
    })
    expect(error?.message).toBe(
      'target: w1 has no column nope. It has: id. Choose columns with mapping: {column: field}.',
    )
  })

  test('snowflake says what it needs', async () => {
    const { error } = await run({ source: { type: 'snowflake' }, target: pg({ table: 'x' }) })
    expect(error).toMatchObject({ code: 'TOOL_UNAVAILABLE', retryable: false })
  })
})

test('time that runs out stops both sides and writes nothing', async () => {
  await sql('create table z1 (id int)')
  const ended = new AbortController()
  setTimeout(() => ended.abort(timeoutFailure(100)), 100)
  const { error } = await run(
    {
      source: pg({ query: 'select i as id, pg_sleep(0.01) from generate_series(1, 1000000) i' }),
      target: pg({ table: 'z1', mapping: { id: 'id' } }),
      chunk_size: 1,
    },
    ended.signal,
  )
  expect(error).toMatchObject({ kind: 'timeout', retryable: true })
  expect(await sql('select * from z1')).toEqual([])
})
