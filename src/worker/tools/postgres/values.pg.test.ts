/** Values on their way: out of the server as JSON, and into statements as parameters. */
import { describe, expect, test } from 'vitest'

import type { JsonObject } from '../../../contract/json.ts'
import { usePostgresTool } from './test-support.ts'

const { run, ok, rows, value } = usePostgresTool()

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
