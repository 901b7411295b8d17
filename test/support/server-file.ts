/** One server on fresh databases for a whole test file: for tests that only look at answers. */
import { afterAll, beforeAll } from 'vitest'
import type { TestDatabase } from './postgres.ts'
import { createTestDatabase } from './postgres.ts'
import type { TestServer } from './server.ts'
import { startServer } from './server.ts'

/** Answers how to get at the server, which exists while tests run. */
export const useServer = (): (() => TestServer) => {
  let database: TestDatabase
  let server: TestServer
  beforeAll(async () => {
    database = await createTestDatabase()
    server = await startServer([database.url])
  })
  afterAll(async () => {
    await server.close()
    await database.drop()
  })
  return () => server
}
