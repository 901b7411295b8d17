import { readFileSync } from 'node:fs'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeSchema } from '../../scripts/schema-text.ts'
import type { TestDatabase } from '../../test/support/postgres.ts'
import { createTestDatabase } from '../../test/support/postgres.ts'
import { openDatabase } from './database.ts'
import { migrate } from './migrate.ts'
import { ensurePartitions } from './partitions.ts'

let database: TestDatabase
beforeAll(async () => {
  // Migrated here: the template of the tests has guards that no migration makes.
  database = await createTestDatabase({ empty: true })
  await migrate(database.url)
})
afterAll(() => database.drop())

const dump = async (): Promise<string> => {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  try {
    return await describeSchema(client)
  } finally {
    await client.end()
  }
}

const checkedIn = (): string => readFileSync(new URL('./schema.sql', import.meta.url), 'utf8')

test('the checked-in schema is what the migrations add up to', async () => {
  expect(await dump(), 'src/store/schema.sql is out of date; write it anew with: npm run schema').toBe(
    checkedIn(),
  )
})

test('partitions that time adds do not change it', async () => {
  const pool = openDatabase({ url: database.url, maxConnections: 1, onError: () => undefined })
  expect(await ensurePartitions(pool, new Date())).toBeGreaterThan(0)
  await pool.end()
  expect(await dump()).toBe(checkedIn())
})
