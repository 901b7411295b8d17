import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { aCall } from '../test-support.ts'
import { timeoutFailure } from '../time-limit.ts'
import { ToolFailure } from '../tool-failure.ts'
import type { ToolCall, ToolResult } from '../tool.ts'
import { createPostgresTool } from './postgres.ts'
import { connectionSettings } from './postgres/connection-settings.ts'

let database: TestDatabase
const tool = createPostgresTool()

beforeAll(async () => {
  database = await createTestDatabase({ empty: true })
})
afterAll(async () => {
  await tool.close()
  await database.drop()
})

const call = (config: JsonObject, over: Parameters<typeof aCall>[1] = {}): ToolCall =>
  aCall({ connection_string: database.url, ...config }, over)
const run = (config: JsonObject): Promise<ToolResult> => tool.run(call(config))
const ok = async (config: JsonObject): Promise<JsonObject> => {
  const result = await run(config)
  expect(result.error).toBeUndefined()
  return result.data as JsonObject
}
const rows = async (query: string, params: Json = []): Promise<Json> =>
  (await ok({ query, params }))['rows'] as Json
const value = async (expression: string): Promise<unknown> =>
  ((await rows(`select ${expression} as v`)) as { v: unknown }[])[0]?.v

describe('the result', () => {
  test('of a query has columns, rows and their number, and again as command_0 (rule 2)', async () => {
    const result = { columns: ['a', 'b'], rows: [{ a: 1, b: 'x' }], row_count: 1 }
    expect(await ok({ query: `select 1 as a, 'x' as b` })).toEqual({
      ...result,
      statement_count: 1,
      command_0: { status: 'success', ...result },
    })
  })

  test('of an empty query has its columns', async () => {
    expect(await ok({ command: 'select 1 as a where false' })).toMatchObject({
      columns: ['a'],
      rows: [],
      row_count: 0,
    })
  })

  test('may have rows as lists, in which columns of the same name survive', async () => {
    expect(await ok({ query: 'select 1 as a, 2 as a', as_objects: 'false' })).toMatchObject({
      columns: ['a', 'a'],
      rows: [[1, 2]],
    })
  })

  test('of a change says how many rows, and RETURNING has rows whatever comes first', async () => {
    await ok({ query: 'create table changed (id serial, name text)' })
    expect(await ok({ query: `insert into changed (name) values ('a'), ('b')` })).toMatchObject({
      affected_rows: 2,
      command_0: { status: 'success', affected_rows: 2 },
    })
    const returning = '/* why */ update changed set name = upper(name) returning id, name'
    expect(await ok({ query: returning })).toMatchObject({
      rows: [
        { id: 1, name: 'A' },
        { id: 2, name: 'B' },
      ],
      row_count: 2,
      affected_rows: 2,
    })
    expect(await ok({ query: 'create table copied as select * from changed' })).toMatchObject({
      affected_rows: 2,
    })
    expect(await rows('show server_encoding')).toEqual([{ server_encoding: 'UTF8' }])
    expect(await rows('values (1), (2)')).toEqual([{ column1: 1 }, { column1: 2 }])
  })

  test('of several statements is that of the last with rows, each under its number', async () => {
    const data = await ok({
      command: `create table several (a int); insert into several values (1), (2);
        select a from several order by a; drop table several;`,
    })
    expect(data).toMatchObject({
      rows: [{ a: 1 }, { a: 2 }],
      statement_count: 4,
      command_1: { affected_rows: 2 },
      command_2: { row_count: 2 },
      command_3: { affected_rows: 0 },
    })
    expect(data).not.toHaveProperty('command_4')
  })

  test.each<[string, JsonObject]>([
    ['a list', { commands: ['select 1 as a', 'select 2 as a; select 3 as a'] }],
    ['queries', { queries: 'select 1 as a; select 2 as a; select 3 as a' }],
    ['base64', { command_b64: Buffer.from('select 1; select 2; select 3 as a').toString('base64') }],
    ['a script', { script: { source: { type: 'inline', code: 'select 1; select 2; select 3 as a' } } }],
  ])('is the same for %s', async (_name, config) => {
    expect(await ok(config)).toMatchObject({ rows: [{ a: 3 }], statement_count: 3 })
  })

  test('of a hundred thousand rows arrives whole', async () => {
    const data = await ok({ query: `select n, repeat('x', 100) as text from generate_series(1, 100000) n` })
    expect(data['row_count']).toBe(100_000)
    expect((data['rows'] as Json[]).at(-1)).toEqual({ n: 100_000, text: 'x'.repeat(100) })
  })

  test('above the limit is given up, and the next call is not disturbed', async () => {
    const small = createPostgresTool({ maxResultBytes: 1_000_000 })
    const huge = await small.run(
      call({ query: `select repeat('x', 1000) from generate_series(1, 10000000)` }),
    )
    expect(huge.error).toMatchObject({ kind: 'result_too_large', code: 'RESULT_TOO_LARGE', retryable: false })
    for (let n = 0; n < 5; n += 1) expect((await small.run(call({ query: 'select 1' }))).outcome).toBe('ok')
    await small.close()
  })
})

describe('values', () => {
  test.each<[string, unknown]>([
    ['1::int2', 1],
    ['9007199254740991::int8', 9007199254740991],
    ['9007199254740993::int8', '9007199254740993'],
    ['1.50::numeric(10,2)', 1.5],
    ['0.1::numeric', 0.1],
    ['100::numeric', 100],
    ['0.00::numeric', 0],
    ['0.0000001::numeric', 1e-7],
    ['12345678901234567890.12::numeric', '12345678901234567890.12'],
    ['0.1234567890123456789::numeric', '0.1234567890123456789'],
    [`'NaN'::numeric`, null],
    [`'NaN'::float8`, null],
    [`'-Infinity'::float4`, null],
    ['1.5::float8', 1.5],
    ['true', true],
    ['null::int', null],
    [`timestamptz '2026-01-02 03:04:05.678901+00' at time zone 'UTC'`, '2026-01-02T03:04:05.678901'],
    [`date '2026-01-02'`, '2026-01-02'],
    [`time '03:04:05'`, '03:04:05'],
    [`'infinity'::timestamptz`, 'infinity'],
    [`'{"id": 9007199254740993, "a": [1, null]}'::jsonb`, { id: '9007199254740993', a: [1, null] }],
    [`'[1.5]'::json`, [1.5]],
    [`'null'::jsonb`, null],
    [`'\\xdeadbeef'::bytea`, '3q2+7w=='],
    [`'5d1d4b4e-0000-4000-8000-000000000000'::uuid`, '5d1d4b4e-0000-4000-8000-000000000000'],
    ['array[1, null, 3]', [1, null, 3]],
    [
      'array[[1, 2], [3, 4]]',
      [
        [1, 2],
        [3, 4],
      ],
    ],
    [`'[0:1]={5,6}'::int[]`, [5, 6]],
    [
      `array['a b', 'c"d', 'e\\f', '', 'NULL', null, '{x,y}']`,
      ['a b', 'c"d', 'e\\f', '', 'NULL', null, '{x,y}'],
    ],
    [`array['{"a": "b,\\"c\\""}'::jsonb]`, [{ a: 'b,"c"' }]],
    [`'{}'::text[]`, []],
    ['array[9007199254740993]', ['9007199254740993']],
    [`pg_sleep(0)`, null],
    [`interval '1 day 02:00'`, '1 day 02:00:00'],
    [`'ünïcode 🐘'`, 'ünïcode 🐘'],
  ])('%s', async (expression, expected) => {
    expect(await value(expression)).toEqual(expected)
  })

  test('instants carry their offset', async () => {
    const instant = `timestamptz '2026-01-02 03:04:05.5+00' as v`
    const at = async (zone: string): Promise<unknown> =>
      ((await ok({ query: `set timezone = '${zone}'; select ${instant}` }))['rows'] as JsonObject[])[0]?.['v']
    expect(await at('UTC')).toBe('2026-01-02T03:04:05.5+00:00')
    expect(await at('Asia/Kolkata')).toBe('2026-01-02T08:34:05.5+05:30')
  })

  test('a column may have any name', async () => {
    const [row] = (await rows(`select 1 as "__proto__", 2 as constructor`)) as JsonObject[]
    expect(Object.entries(row as JsonObject)).toEqual([
      ['__proto__', 1],
      ['constructor', 2],
    ])
  })
})

describe('parameters', () => {
  test('are positional or named, and keep their values', async () => {
    const list = ['9007199254740993', 5, true, null, `it's`, { a: [1] }]
    const query = 'select $1::int8 as a, $2::int as b, $3::bool as c, $4::int as d, $5 as e, $6::jsonb as f'
    const expected = [{ a: '9007199254740993', b: 5, c: true, d: null, e: `it's`, f: { a: [1] } }]
    expect(await rows(query, list)).toEqual(expected)
    expect(await rows('select :x::int as a, %(y)s as b', { x: 1, y: 'why' })).toEqual([{ a: 1, b: 'why' }])
  })

  test('that are lists become arrays or JSON, as the statement wants them', async () => {
    await ok({ query: 'create table wants (tags text[], doc jsonb)' })
    const tags = ['a', 'b "c"', null]
    const data = await ok({
      query: 'insert into wants values ($1, $2) returning *',
      params: [tags, [{ a: 1 }, 2]],
    })
    expect(data['rows']).toEqual([{ tags, doc: [{ a: 1 }, 2] }])
    expect(await rows('select 2 = any($1::int[]) as found', [[1, 2]])).toEqual([{ found: true }])
  })

  test('that are lists reach procedures as JSON', async () => {
    await ok({
      query: 'create procedure takes(doc jsonb) begin atomic insert into wants (doc) values (doc); end',
    })
    await ok({ query: 'call takes($1)', params: [[7]] })
    expect(await rows(`select doc from wants where doc = '[7]'`)).toEqual([{ doc: [7] }])
  })

  test('go with one statement', async () => {
    expect((await run({ query: 'select $1; select 2', params: [1] })).error).toMatchObject({ kind: 'config' })
    expect((await run({ query: 'select 1', params: 5 })).error).toMatchObject({ kind: 'config' })
    expect(await ok({ query: 'select 1 as a;', params: [] })).toMatchObject({ rows: [{ a: 1 }] })
  })
})

describe('statements', () => {
  test('are committed one by one and stop at the first error, with the data so far (rule 1)', async () => {
    await ok({ query: 'create table kept (a int unique)' })
    const result = await run({
      commands: ['insert into kept values (1)', 'insert into kept values (1)', 'insert into kept values (2)'],
    })
    expect(result).toMatchObject({
      outcome: 'error',
      error: { kind: 'db_constraint', code: 'PG_23505', sqlstate: '23505', retryable: false },
      data: { command_0: { affected_rows: 1 }, failed_command: 1, statement_count: 3 },
    })
    expect(result.data).not.toHaveProperty('command_1')
    expect(await rows('select a from kept')).toEqual([{ a: 1 }])
  })

  test('in a transaction are all or nothing', async () => {
    await ok({ query: 'create table whole (a int)' })
    await run({ query: 'begin; insert into whole values (1); select 1/0; commit' })
    expect(await rows('select * from whole')).toEqual([])
    await ok({ query: 'begin; insert into whole values (1); commit' })
    expect(await rows('select * from whole')).toEqual([{ a: 1 }])
  })

  test('that leave a transaction open are rolled back and fail', async () => {
    await ok({ query: 'create table half (a int)' })
    const result = await run({ query: 'begin; insert into half values (1)' })
    expect(result.error).toMatchObject({ code: 'OPEN_TRANSACTION', retryable: false })
    expect(await rows('select * from half')).toEqual([])
  })

  test('that need a connection of their own run: vacuum, concurrent indexes, procedures that commit', async () => {
    await ok({
      query: `create table busy (a int); create index concurrently on busy (a); vacuum busy;
        create procedure add_two() language plpgsql as $body$
          begin insert into busy values (1); commit; insert into busy values (2); end $body$;
        call add_two();`,
    })
    expect(await rows('select count(*)::int as n from busy')).toEqual([{ n: 2 }])
  })

  test('find names in the schema they are given, and leave nothing to the next call', async () => {
    await ok({ query: 'create schema "My App"; create table "My App".here (a int)' })
    await ok({ query: 'select * from here', schema: 'My App' })
    await ok({
      query: `set work_mem = '1234kB'; create temp table temporary (a int); select pg_advisory_lock(1)`,
    })
    expect((await run({ query: 'select * from here' })).error?.code).toBe('PG_42P01')
    expect((await run({ query: 'select * from temporary' })).error?.code).toBe('PG_42P01')
    expect(await value(`current_setting('work_mem')`)).not.toBe('1234kB')
    const locks = `select count(*)::int from pg_locks join pg_database on pg_database.oid = pg_locks.database
      where locktype = 'advisory' and datname = current_database()`
    expect(await value(`(${locks})`)).toBe(0)
  })

  test('say things to the log (rule 4)', async () => {
    const seen: string[] = []
    const log: ToolCall['log'] = (stream, text) => void seen.push(`${stream}:${text}`)
    await tool.run(call({ query: `do $$ begin raise notice 'hello %', 1; end $$` }, { log }))
    expect(seen).toEqual(['stderr:NOTICE: hello 1\n'])
  })
})

describe('an error', () => {
  test.each<[string, string, string, boolean]>([
    ['select * from nowhere', 'db_error', '42P01', false],
    ['selec 1', 'db_error', '42601', false],
    [`do $$ begin raise exception using errcode = '40001'; end $$`, 'db_deadlock', '40001', true],
    [`do $$ begin raise exception using errcode = '40P01'; end $$`, 'db_deadlock', '40P01', true],
    [`do $$ begin raise exception using errcode = '08006'; end $$`, 'db_connection', '08006', true],
    [`do $$ begin raise exception using errcode = '57P01'; end $$`, 'db_connection', '57P01', true],
    [`set statement_timeout = 10; select pg_sleep(5)`, 'db_timeout', '57014', true],
  ])('of %s is %s', async (query, kind, sqlstate, retryable) => {
    expect((await run({ query })).error).toMatchObject({ kind, code: `PG_${sqlstate}`, sqlstate, retryable })
  })

  test('shows what the server said, and where', async () => {
    const { error } = await run({ query: 'select 1 as "é",\n  nope' })
    expect(error?.message).toBe(
      'Query failed: ERROR: column "nope" does not exist (SQLSTATE 42703) | AT: line 2, column 3',
    )
    await ok({ query: 'create table picky (a int primary key); insert into picky values (1)' })
    const { error: again } = await run({ query: 'insert into picky values (1)' })
    expect(again?.message).toContain('| DETAIL: Key (a)=(1) already exists.')
  })

  test('of missing SQL or a missing credential is said before anything is connected', async () => {
    for (const query of ['', ' -- nothing\n;', null]) {
      const { error } = await run({ query })
      expect(error).toMatchObject({
        kind: 'config',
        message: expect.stringMatching(/no sql command provided/i),
      })
    }
    expect((await run({ query: 'select 1', auth: 'prod' })).error).toMatchObject({
      code: 'CREDENTIAL_NOT_FOUND',
    })
  })

  test('of the connection is classified', async () => {
    const refused = { host: '127.0.0.1', port: 1, connection_string: null, query: 'select 1' }
    expect((await run(refused)).error).toMatchObject({
      kind: 'db_connection',
      code: 'CONN_REFUSED',
      retryable: true,
    })
    const unknown = { ...refused, host: 'no-such-host.invalid' }
    expect((await run(unknown)).error).toMatchObject({ kind: 'db_connection', code: 'DNS_ERROR' })
    expect((await run({ query: 'select 1', database: 'no_such' })).error?.code).toBe('PG_3D000')
  })

  test('of a connection that is lost under way is worth another try, which works', async () => {
    const lost = await run({ query: 'select pg_terminate_backend(pg_backend_pid())' })
    expect(lost.error).toMatchObject({ kind: 'db_connection', retryable: true })
    expect((await run({ query: 'select 1' })).outcome).toBe('ok')
  })
})

describe('the end', () => {
  const sleepers = (): Promise<unknown> =>
    value(
      `(select count(*)::int from pg_stat_activity
        where state = 'active' and query = 'select pg_sleep(61)' and pid <> pg_backend_pid())`,
    )
  const SLEEP = `select 'first' as a; select pg_sleep(61)`

  test.each<[string, ToolFailure, JsonObject]>([
    [
      'timeout',
      timeoutFailure(20),
      { kind: 'db_timeout', code: 'PG_57014', sqlstate: '57014', retryable: true },
    ],
    [
      'cancellation',
      new ToolFailure({ kind: 'cancelled', code: 'CANCELLED', message: 'gone', retryable: false }),
      { kind: 'cancelled', code: 'CANCELLED' },
    ],
  ])('by %s stops the statement on the server (rule 3)', async (_name, reason, expected) => {
    const controller = new AbortController()
    const running = tool.run(call({ query: SLEEP }, { signal: controller.signal }))
    await expect.poll(sleepers).toBe(1)
    const startedAt = performance.now()
    controller.abort(reason)
    const result = await running
    expect(performance.now() - startedAt).toBeLessThan(1_500)
    expect(result).toMatchObject({
      error: expected,
      data: { command_0: { row_count: 1 }, failed_command: 1 },
    })
    expect(await sleepers()).toBe(0)
  })

  test('comes from the server when the worker cannot tell it', async () => {
    expect((await run({ query: SLEEP, timeout: '50ms' })).error?.code).toBe('PG_57014')
  })

  test('comes also when the server does not answer any more', async () => {
    const { host, port: serverPort } = await connectionSettings({ url: database.url })
    const server = host.startsWith('/')
      ? { path: `${host}/.s.PGSQL.${serverPort}` }
      : { host, port: serverPort }
    const sockets: Socket[] = []
    let frozen = false
    const proxy = createServer((socket) => {
      if (frozen) return
      const upstream = connect(server)
      sockets.push(socket, upstream)
      for (const each of [socket, upstream]) each.on('error', () => undefined)
      socket.pipe(upstream).pipe(socket)
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { port } = proxy.address() as AddressInfo
    const controller = new AbortController()
    const config = { query: 'select pg_sleep(62)', host: '127.0.0.1', port }
    const running = tool.run(call(config, { signal: controller.signal }))
    await expect
      .poll(() => value(`(select count(*)::int from pg_stat_activity where query = 'select pg_sleep(62)')`))
      .toBe(1)
    frozen = true
    controller.abort(timeoutFailure(20))
    expect((await running).error?.kind).toBe('db_timeout')
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })

  test('comes before the start for a call that is not wanted any more', async () => {
    const result = await tool.run(call({ query: SLEEP }, { signal: AbortSignal.abort(timeoutFailure(20)) }))
    expect(result.error?.kind).toBe('db_timeout')
  })
})

describe('connections', () => {
  test('are shared by calls with the same credential, up to the size of the pool', async () => {
    const own = createPostgresTool()
    const config = { query: 'select pg_backend_pid() as pid, pg_sleep(0.02)', pool: { max_size: 2 } }
    const results = await Promise.all(Array.from({ length: 8 }, () => own.run(call(config))))
    const pids = results.map((result) => ((result.data as JsonObject)['rows'] as { pid: number }[])[0]?.pid)
    expect(new Set(pids).size).toBe(2)
    expect(own.connectionCount()).toBe(2)
    await own.close()
    expect(own.connectionCount()).toBe(0)
  })

  test('are not waited for by who gives up', async () => {
    const own = createPostgresTool()
    const controller = new AbortController()
    const pool = { max_size: 1 }
    const first = own.run(call({ query: 'select pg_sleep(0.2)', pool }))
    const second = own.run(call({ query: 'select 2', pool }, { signal: controller.signal }))
    const third = own.run(call({ query: 'select 3 as a', pool }))
    controller.abort(timeoutFailure(5))
    expect((await second).error?.kind).toBe('db_timeout')
    expect((await first).outcome).toBe('ok')
    expect((await third).data).toMatchObject({ rows: [{ a: 3 }] })
    await own.close()
  })
})
