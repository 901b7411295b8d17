import { Client } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from './support/postgres.ts'

const made: TestDatabase[] = []
afterAll(async () => {
  await Promise.all(made.map((database) => database.drop()))
})

async function query(database: TestDatabase, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}

test('databases made at the same time are separate', async () => {
  made.push(...(await Promise.all(Array.from({ length: 4 }, () => createTestDatabase()))))
  await Promise.all(
    made.map((database, index) => query(database, `create table mark as select ${index} as value`)),
  )
  const marks = await Promise.all(made.map((database) => query(database, 'select value from mark')))
  expect(marks).toEqual([[{ value: 0 }], [{ value: 1 }], [{ value: 2 }], [{ value: 3 }]])
})

test('a database comes with the migrated schema', async () => {
  const database = await createTestDatabase()
  made.push(database)
  const [row] = await query(database, 'select count(*)::int as count from noetl.migration')
  expect(row?.['count']).toBeGreaterThan(0)
})

test('an empty database has no schema of ours', async () => {
  const database = await createTestDatabase({ empty: true })
  made.push(database)
  expect(await query(database, "select 1 from pg_namespace where nspname = 'noetl'")).toEqual([])
})

test('a database can be dropped while somebody is connected', async () => {
  const database = await createTestDatabase()
  const client = new Client({ connectionString: database.url })
  const disconnected = new Promise((resolve) => client.on('error', resolve))
  await client.connect()
  await database.drop()
  expect(await disconnected).toBeInstanceOf(Error)
})
