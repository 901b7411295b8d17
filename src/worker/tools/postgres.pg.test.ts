/** What a call answers, and how its statements run. Rules are those of postgres.ts. */
import { describe, expect, test } from 'vitest'

import type { Json, JsonObject } from '../../contract/json.ts'
import type { ToolCall } from '../tool.ts'
import { createPostgresTool } from './postgres.ts'
import { usePostgresTool } from './postgres/test-support.ts'

const { tool, call, run, ok, rows, value } = usePostgresTool()

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
