/** A migrated database and a pool on it, for the length of a test file. */
import { afterAll, beforeAll } from 'vitest'
import type { Database } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/database.ts'
import type { TestDatabase } from './postgres.ts'
import { createTestDatabase } from './postgres.ts'

/** Answers how to get at the pool, which exists while tests run. */
export const useDatabase = (): (() => Database) => {
  let made: TestDatabase
  let pool: Database
  beforeAll(async () => {
    made = await createTestDatabase()
    pool = openDatabase({ url: made.url, maxConnections: 8, onError: () => undefined })
  })
  afterAll(async () => {
    await pool.end()
    await made.drop()
  })
  return () => pool
}
