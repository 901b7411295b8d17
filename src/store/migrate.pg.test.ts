import { Client } from 'pg'
import { afterEach, expect, test } from 'vitest'
import type { TestDatabase } from '../../test/support/postgres.ts'
import { createTestDatabase } from '../../test/support/postgres.ts'
import { loadMigrations, migrate } from './migrate.ts'

const made: TestDatabase[] = []
const emptyDatabase = async (): Promise<string> => {
  const database = await createTestDatabase({ empty: true })
  made.push(database)
  return database.url
}
afterEach(async () => {
  await Promise.all(made.splice(0).map((database) => database.drop()))
})

const query = async <R extends object>(url: string, sql: string, values: unknown[] = []): Promise<R[]> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<R>(sql, values)).rows
  } finally {
    await client.end()
  }
}

const names = loadMigrations().map((migration) => migration.name)

test('file names start with numbers that count from one without gaps', () => {
  expect(loadMigrations().map((migration) => migration.number)).toEqual(names.map((_, index) => index + 1))
  expect(names.every((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name))).toBe(true)
})

test('every file is applied once, a second start applies nothing', async () => {
  const url = await emptyDatabase()
  expect(await migrate(url)).toEqual(names)
  expect(await migrate(url)).toEqual([])
  expect(await query(url, 'select name from noetl.migration order by number')).toEqual(
    names.map((name) => ({ name })),
  )
})

test('servers that start at once apply every file once (rule 1)', async () => {
  const url = await emptyDatabase()
  const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(url)))
  expect(applied.flat()).toEqual(names)
})

test('a file that was changed after it was applied is refused (rule 2)', async () => {
  const url = await emptyDatabase()
  await migrate(url)
  await query(url, "update noetl.migration set checksum = 'other' where number = 1")
  await expect(migrate(url)).rejects.toThrow(/was changed after it was applied/)
})

test('a database that is newer than this program is refused and left alone (rule 3)', async () => {
  const url = await emptyDatabase()
  await migrate(url)
  await query(
    url,
    "insert into noetl.migration (number, name, checksum) values (9999, '9999_future.sql', 'x')",
  )
  await expect(migrate(url)).rejects.toThrow(/9999_future\.sql.*Run a newer NoETL/)
})

test('a file that fails leaves nothing of itself behind', async () => {
  const url = await emptyDatabase()
  await query(url, 'create schema noetl')
  // The last table of the first file exists already: all tables before it must disappear again.
  await query(url, 'create table noetl.result (mine int)')
  await expect(migrate(url)).rejects.toThrow(/Migration 0001_foundation\.sql failed/)
  const tables = await query<{ name: string }>(
    url,
    "select relname as name from pg_class where relnamespace = 'noetl'::regnamespace and relkind = 'r' order by 1",
  )
  expect(tables.map((table) => table.name)).toEqual(['migration', 'result'])
})
