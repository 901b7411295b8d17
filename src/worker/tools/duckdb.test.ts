import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Json, JsonObject } from '../../contract/json.ts'
import { aCall, aCommand } from '../test-support.ts'
import { timeoutFailure } from '../time-limit.ts'
import type { ToolCall, ToolResult } from '../tool.ts'
import { createDatabasePaths, sweepExecutionFiles } from './duckdb/database-path.ts'
import { createDuckdbTool, createSharedEngine, type DuckdbTool } from './duckdb.ts'
import { createDucklakeTool } from './ducklake.ts'
import { toolUnavailable } from './tool-unavailable.ts'

let directory: string
let tool: DuckdbTool
const engine = createSharedEngine()

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'noetl-duckdb-'))
  tool = createDuckdbTool({ paths: createDatabasePaths(directory, directory), directory, engine })
})
afterAll(async () => {
  await tool.close?.()
  await rm(directory, { recursive: true, force: true })
})

const run = (config: JsonObject, over: Parameters<typeof aCall>[1] = {}): Promise<ToolResult> =>
  tool.run(aCall({ database: ':memory:', ...config }, over))
const ok = async (config: JsonObject): Promise<JsonObject> => {
  const result = await run(config)
  expect(result.error).toBeUndefined()
  return result.data as JsonObject
}
const value = async (expression: string, params: Json = []): Promise<unknown> => {
  const { rows } = await ok({ query: `select ${expression} as v`, params })
  return (rows as { v: unknown }[])[0]?.v
}
/** A call of an execution of its own, without a database of its own. */
const inExecution = (executionId: string, query: string): ToolCall => ({
  ...aCall({ query }),
  command: aCommand({ executionId }),
})

describe('the result', () => {
  test('of a query has columns, rows and their number, and again as command_0 (rule 2)', async () => {
    const result = { columns: ['a', 'b'], rows: [{ a: 1, b: 'x' }], row_count: 1 }
    expect(await ok({ query: `select 1 as a, 'x' as b` })).toEqual({
      ...result,
      statement_count: 1,
      executed_commands: 1,
      command_0: { status: 'success', ...result },
    })
  })

  test('shows the last statement with rows, and every statement by its number (rule 2)', async () => {
    const data = await ok({
      commands: [
        'create table t (id int)',
        'insert into t values (1), (2); select id from t',
        'drop table t',
      ],
    })
    expect(data).toMatchObject({ rows: [{ id: 1 }, { id: 2 }], statement_count: 4, executed_commands: 4 })
    expect(data['command_1']).toEqual({ status: 'success', affected_rows: 2, row_count: 2 })
  })

  test('has the rows of RETURNING', async () => {
    const data = await ok({ command: 'create table t (id int); insert into t values (7) returning id' })
    expect(data).toMatchObject({ columns: ['id'], rows: [{ id: 7 }], row_count: 1 })
  })

  test('of an empty query has its columns', async () => {
    expect(await ok({ query: 'select 1 as a where false' })).toMatchObject({ columns: ['a'], rows: [] })
  })

  test('may have rows as lists', async () => {
    expect(await ok({ query: 'select 1 as a, 2 as a', as_objects: false })).toMatchObject({ rows: [[1, 2]] })
  })
})

describe('values are exact', () => {
  test.each<[string, unknown]>([
    ['42::bigint', 42],
    ['9223372036854775807::bigint', '9223372036854775807'],
    ['18446744073709551615::ubigint', '18446744073709551615'],
    ['170141183460469231731687303715884105727::hugeint', '170141183460469231731687303715884105727'],
    ['1.50::decimal(10, 2)', 1.5],
    ['12345678901234567890.123::decimal(38, 3)', '12345678901234567890.123'],
    ['0::decimal(10, 2)', 0],
    [`'NaN'::double`, null],
    ['1.5::float', 1.5],
    [`timestamp '2024-01-02 03:04:05.123456'`, '2024-01-02T03:04:05.123456'],
    [`timestamptz '2024-01-02 03:04:05+02'`, '2024-01-02T01:04:05+00:00'],
    [`date '2024-01-02'`, '2024-01-02'],
    [`'infinity'::date`, 'infinity'],
    [`time '01:02:03'`, '01:02:03'],
    [`'ab'::blob`, 'YWI='],
    [`'{"a": [1, 12345678901234567890]}'::json`, { a: [1, '12345678901234567890'] }],
    ['[1, NULL, 9223372036854775807]', [1, null, '9223372036854775807']],
    [`{'a': 1, 'b': [date '2024-01-01']}`, { a: 1, b: ['2024-01-01'] }],
    [`map {'k': 1, '__proto__': 2}`, JSON.parse('{"k": 1, "__proto__": 2}')],
    ['[1, 2]::int[2]', [1, 2]],
    ['union_value(n := 5)', 5],
    [`'b'::enum('a', 'b')`, 'b'],
    ['interval 3 days', '3 days'],
    ['NULL', null],
    ['true', true],
  ])('%s', async (expression, expected) => {
    expect(await value(expression)).toEqual(expected)
  })
})

describe('parameters', () => {
  test('are a list for $1, $2, … of any JSON value', async () => {
    expect(await value(`$1 || '-' || $2`, ['a', 'b'])).toBe('a-b')
    expect(await value('$1 + $2', [9_007_199_254_740_991, 1])).toBe('9007199254740992')
    expect(await value('list_sum($1)', [[1, 2, 3]])).toBe(6)
    expect(await value(`list_contains($1, 'b')`, [['a', 'b']])).toBe(true)
    expect(await value(`json_extract($1::json, '$.a')`, [{ a: 1 }])).toBe(1)
    expect(await value('$1 IS NULL', [null])).toBe(true)
  })

  test('are a mapping for :name', async () => {
    expect(await value(':low + :high', { low: 1, high: 2.5 })).toBe(3.5)
  })

  test('go with one statement only', async () => {
    const { error } = await run({ query: 'select 1; select 2', params: [1] })
    expect(error).toMatchObject({ kind: 'config', code: 'CONFIG' })
  })
})

describe('files', () => {
  test('of CSV, JSON and Parquet are read and written', async () => {
    const path = join(directory, 'items.csv')
    await writeFile(path, 'id,name\n1,one\n2,two\n')
    const parquet = join(directory, 'items.parquet')
    const json = join(directory, 'items.json')
    await ok({
      command: `copy (from read_csv('${path}')) to '${parquet}'; copy (from '${parquet}') to '${json}'`,
    })
    expect(await ok({ query: `from read_json('${json}') order by id` })).toMatchObject({
      rows: [
        { id: 1, name: 'one' },
        { id: 2, name: 'two' },
      ],
    })
  })
})

describe('databases', () => {
  test('the steps of one execution share one, and no other execution sees it (rule 3)', async () => {
    await tool.run(inExecution('71', 'create table t as select 5 as id'))
    expect(await tool.run(inExecution('71', 'from t'))).toMatchObject({ data: { rows: [{ id: 5 }] } })
    expect((await tool.run(inExecution('72', 'from t'))).error).toMatchObject({ code: 'DUCKDB_CATALOG' })
    expect(await readdir(join(directory, 'duckdb'))).toContain('execution-71.duckdb')
  })

  test('calls on one file at the same time share one engine, however its path is written', async () => {
    await run({ database: 'shared.duckdb', query: 'create table t (id int)' })
    const calls = Array.from({ length: 8 }, (_, id) =>
      run({
        database: id % 2 === 0 ? 'shared.duckdb' : join(directory, '.', 'shared.duckdb'),
        query: `insert into t values (${id})`,
      }),
    )
    const results = await Promise.all(calls)
    expect(results.map(({ outcome }) => outcome)).toEqual(results.map(() => 'ok'))
    expect(await ok({ database: 'shared.duckdb', query: 'select count(*) as n from t' })).toMatchObject({
      rows: [{ n: 8 }],
    })
    expect(engine.openCount()).toBe(0)
  })

  test('of executions are deleted when they were not written for long', async () => {
    const folder = join(directory, 'old')
    const fresh = createDuckdbTool({ paths: createDatabasePaths(folder), directory, engine })
    await fresh.run(inExecution('81', 'create table t (id int)'))
    await fresh.run(inExecution('82', 'create table t (id int)'))
    await utimes(join(folder, 'duckdb', 'execution-81.duckdb'), 1, 1)
    await sweepExecutionFiles(join(folder, 'duckdb'), 1_000_000)
    expect(await readdir(join(folder, 'duckdb'))).toEqual(['execution-82.duckdb'])
  })
})

describe('errors', () => {
  test.each([
    ['selec 1', 'db_error', 'DUCKDB_PARSER'],
    ['from nowhere', 'db_error', 'DUCKDB_CATALOG'],
    [`select 'a'::int`, 'db_error', 'DUCKDB_CONVERSION'],
    [
      'create table t (id int primary key); insert into t values (1), (1)',
      'db_constraint',
      'DUCKDB_CONSTRAINT',
    ],
    [`from read_csv('/nowhere.csv')`, 'db_error', 'DUCKDB_IO'],
  ])('of %s', async (query, kind, code) => {
    expect((await run({ query })).error).toMatchObject({ kind, code, retryable: false })
  })

  test('come with the data of the statements before them, and stop the others (rule 1)', async () => {
    const { data, outcome } = await run({ query: 'select 1 as a; from nowhere; select 2 as b' })
    expect(outcome).toBe('error')
    expect(data).toMatchObject({
      rows: [{ a: 1 }],
      failed_command: 1,
      statement_count: 3,
      executed_commands: 1,
    })
    expect(data).not.toHaveProperty('command_1')
  })

  test('a transaction left open is rolled back and named (rule 1)', async () => {
    const database = 'open.duckdb'
    await ok({ database, query: 'create table t (id int)' })
    const { error } = await run({ database, query: 'begin; insert into t values (1)' })
    expect(error).toMatchObject({ code: 'OPEN_TRANSACTION' })
    expect(await ok({ database, query: 'begin; insert into t values (2); commit; from t' })).toMatchObject({
      rows: [{ id: 2 }],
    })
  })

  test('an extension that cannot be had says how to get it', async () => {
    const setting = `set custom_extension_repository = 'http://127.0.0.1:1'; set extension_directory = '${directory}/none'`
    const { error } = await run({ query: `${setting}; install postgres` })
    expect(error).toMatchObject({ code: 'TOOL_UNAVAILABLE', retryable: false })
    expect(error?.message).toContain('INSTALL postgres')
  })

  test('a driver that is not installed says what to install', async () => {
    const absent = createSharedEngine(() => Promise.reject(toolUnavailable('npm install @duckdb/node-api')))
    const without = createDuckdbTool({ paths: createDatabasePaths(directory), engine: absent })
    const { error } = await without.run(aCall({ query: 'select 1', database: ':memory:' }))
    expect(error).toMatchObject({ kind: 'config', code: 'TOOL_UNAVAILABLE', retryable: false })
  })

  test('no statement is a mistake of the block', async () => {
    expect((await run({ query: ' ; ' })).error).toMatchObject({ kind: 'config' })
  })

  test('a result above the limit is given up while it is read', async () => {
    const small = createDuckdbTool({ paths: createDatabasePaths(directory), engine, maxResultBytes: 10_000 })
    const { error } = await small.run(aCall({ database: ':memory:', query: 'from range(100000000000)' }))
    expect(error).toMatchObject({ kind: 'result_too_large', code: 'RESULT_TOO_LARGE' })
  })
})

describe('ends from outside (rule 4)', () => {
  const ENDLESS = 'select count(*) from range(1000000000) a, range(1000000) b'

  test('time that ran out interrupts the statement', async () => {
    const { error } = await run(
      { query: ENDLESS },
      { signal: AbortSignal.any([abortSoon(timeoutFailure(50))]) },
    )
    expect(error).toMatchObject({ kind: 'db_timeout', code: 'DUCKDB_TIMEOUT', retryable: true })
    expect(engine.openCount()).toBe(0)
  })

  test('calls that wait for their turn stop waiting', async () => {
    const ended = new AbortController()
    const reason = new Error('not wanted any more')
    const calls = Array.from({ length: 5 }, () => run({ query: ENDLESS }, { signal: ended.signal }))
    setTimeout(() => ended.abort(reason), 20)
    const messages = (await Promise.all(calls)).map(({ error }) => error?.message)
    expect(messages).toEqual(calls.map(() => reason.message))
    expect(await value('1')).toBe(1)
  })
})

describe('credentials', () => {
  const withAuth = (auth: Json): Promise<ToolResult> => run({ auth, query: 'select 1 as a' })

  test('of a database are attached, or the extension that is missing is named', async () => {
    const result = await withAuth({
      pg: { type: 'postgres', host: '127.0.0.1', port: 1, user: 'u', password: 'p' },
    })
    expect(result.outcome).toBe('error')
    expect(['TOOL_UNAVAILABLE', 'DUCKDB_IO']).toContain(result.error?.code)
  })

  test('that DuckDB has no use for are a mistake that is named', async () => {
    const { error } = await withAuth({ type: 'bearer', token: 't' })
    expect(error).toMatchObject({ kind: 'config' })
    expect(error?.message).toContain('bearer')
  })

  test('under a name that is none are a mistake', async () => {
    const { error } = await withAuth({ 'a b': { type: 'postgres', host: 'x' } })
    expect(error?.message).toContain('letters, digits and _')
  })
})

describe('ducklake', () => {
  const lake = createDucklakeTool({ engine })

  test('needs a catalog', async () => {
    const { error } = await lake.run(aCall({ query: 'select 1' }))
    expect(error?.message).toContain('catalog_connection')
  })

  test('either runs or says which extension is missing', async () => {
    const result = await lake.run(
      aCall({
        catalog_connection: join(directory, 'm.ducklake'),
        data_path: directory,
        query: 'select 1 as a',
      }),
    )
    if (result.outcome === 'ok') expect(result.data).toMatchObject({ rows: [{ a: 1 }], status: 'success' })
    else expect(result.error).toMatchObject({ code: 'TOOL_UNAVAILABLE', retryable: false })
  })
})

function abortSoon(reason: unknown): AbortSignal {
  const controller = new AbortController()
  setTimeout(() => controller.abort(reason), 50)
  return controller.signal
}
