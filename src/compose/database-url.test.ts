import { describe, expect, test } from 'vitest'
import { databaseProblem, refuseForeignAddresses } from './database-url.ts'

describe('what is not an address of PostgreSQL is refused (1)', () => {
  test.each([
    'nonsense',
    'localhost:5432',
    'host=localhost user=me password=hunter2',
    'mysql://me:hunter2@localhost/x',
    'postgres://me:hunter2@localhost:port/x',
    '',
  ])('%j, with an example and without a word of it (2)', (text) => {
    const check = (): void => refuseForeignAddresses(['postgres://a/b', text])
    expect(check).toThrow('looks like postgres://user:password@host:5432/database')
    expect(check).not.toThrow(/hunter2/)
  })

  test.each([
    'postgres://localhost',
    'postgresql://me:p%40ss@db.example.com:6432/noetl?sslmode=require',
    'postgresql://noetl@%2Ftmp%2Fsocket:5432/noetl',
    'postgres:///noetl?host=/var/run/postgresql',
    'postgres://me@/noetl',
    'postgres://me@[::1]:5432/x',
    'socket:/var/run/postgresql?db=noetl',
    '/var/run/postgresql noetl',
  ])('%j is one', (text) => {
    expect(() => refuseForeignAddresses([text])).not.toThrow()
  })
})

describe('what is wrong with a database', () => {
  const failure = (message: string, code?: string): Error => Object.assign(new Error(message), { code })
  const told = (url: string, error: unknown): string => databaseProblem(url, error).message

  test('names host and port of a server that does not answer', () => {
    expect(told('postgres://me@nohost/x', failure('getaddrinfo ENOTFOUND nohost', 'ENOTFOUND'))).toBe(
      'The database postgres://me@nohost/x cannot be used: no PostgreSQL answers at nohost:5432 (getaddrinfo ENOTFOUND nohost)',
    )
    expect(told('postgres://a:7/x', failure('timeout expired'))).toContain('no PostgreSQL answers at a:7')
    const both = new AggregateError([
      failure('connect ECONNREFUSED ::1:5432', 'ECONNREFUSED'),
      failure('connect ECONNREFUSED 127.0.0.1:5432', 'ECONNREFUSED'),
    ])
    expect(told('postgres:///x', both)).toContain('no PostgreSQL answers at localhost:5432 (connect')
  })

  test('says it once where the reason says it', () => {
    expect(
      told('postgres://127.0.0.1:9/x', failure('connect ECONNREFUSED 127.0.0.1:9', 'ECONNREFUSED')),
    ).toBe('The database postgres://127.0.0.1:9/x cannot be used: connect ECONNREFUSED 127.0.0.1:9')
  })

  test('is told without a password, wherever it stood (2)', () => {
    const message = told(
      'postgres://me:hunter2@a/x?password=hunter2&sslmode=require',
      failure('no such role'),
    )
    expect(message).toBe('The database postgres://me@a/x?sslmode=require cannot be used: no such role')
  })
})
