/** What went wrong, as policy rules and people see it. */
import { describe, expect, test } from 'vitest'

import { usePostgresTool } from './test-support.ts'

const { run, ok } = usePostgresTool()

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
