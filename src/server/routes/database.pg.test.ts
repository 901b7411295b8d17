import { describe, expect, test } from 'vitest'
import { textOf } from '../../../test/support/server.ts'
import { useServers } from '../../../test/support/servers.ts'

const servers = useServers()
const PATH = '/api/postgres/execute'

describe('SQL over HTTP', () => {
  test('is off unless the server was told otherwise, and says how to switch it on', async () => {
    const server = await servers.start()
    const { status, body } = await server.post(PATH, { query: 'select 1' })
    expect([status, body['code'], textOf(body['error']).includes('NOETL_RAW_SQL=true')]).toEqual([
      403,
      'forbidden',
      true,
    ])
  })

  test('answers rows, with parameters, encoded text and a schema of its own', async () => {
    const server = await servers.start({ rawSql: true })
    expect(
      (await server.post(PATH, { query: 'select $1::int + 1 as n', parameters: [41] })).body,
    ).toMatchObject({
      status: 'ok',
      result: [{ n: 42 }],
    })
    const query_base64 = Buffer.from('select 9223372036854775807::bigint as big').toString('base64')
    expect((await server.post(PATH, { query_base64 })).body['result']).toEqual([
      { big: '9223372036854775807' },
    ])
    expect(
      (await server.post(PATH, { query: 'select count(*)::int as n from event', db_schema: 'noetl' })).body,
    ).toMatchObject({
      result: [{ n: 0 }],
    })
    expect((await server.post(PATH, { query: 'show search_path' })).body['result']).not.toEqual([
      { search_path: 'noetl' },
    ])
    const strange = await server.post(PATH, {
      query: 'show search_path',
      schema: `x"; drop table noetl.event; --`,
    })
    expect(strange.body['result']).toEqual([{ search_path: `"x""; drop table noetl.event; --"` }])
  })

  test('is one transaction: what fails leaves nothing', async () => {
    const server = await servers.start({ rawSql: true })
    const { status, body } = await server.post(PATH, { query: 'create table public.half(i int); select 1/0' })
    expect([status, textOf(body['error'])]).toEqual([400, 'SQL error 22012: division by zero'])
    expect(
      (await server.post(PATH, { query: `select to_regclass('public.half') is null as gone` })).body[
        'result'
      ],
    ).toEqual([{ gone: true }])
  })

  test.each([
    [{}],
    [{ query: '  ' }],
    [{ query: 7 }],
    [{ query_base64: '%' }],
    [{ schema: 'a', db_schema: 'b', query: 'x' }],
  ])('asks for something to run: %j', async (body) => {
    const server = await servers.start({ rawSql: true })
    expect((await server.post(PATH, body)).status).toBe(422)
  })

  test('calls procedures by name, never by text', async () => {
    const server = await servers.start({ rawSql: true })
    const { status, body } = await server.post(PATH, {
      procedure: 'noetl.none"; drop table x',
      parameters: [1],
    })
    expect([status, textOf(body['error'])]).toEqual([400, expect.stringContaining('42883')])
  })
})

test('the schema is complete from the start', async () => {
  const server = await servers.start()
  for (const answer of [await server.get('/api/db/validate'), await server.post('/api/db/init', {})])
    expect(answer).toMatchObject({ status: 200, body: { valid: true, missing: [] } })
})
