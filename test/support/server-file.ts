/** One server on fresh databases for a whole test file: for tests that only look at answers. */
import { afterAll, beforeAll } from 'vitest'
import { startApiServer } from './api-server.ts'
import type { TestDatabase } from './postgres.ts'
import { createTestDatabase } from './postgres.ts'
import type { TestServer } from './server.ts'
import { startServer } from './server.ts'

/** Answers how to get at the server, which exists while tests run. */
export const useServer = (shards = 1): (() => TestServer) => useStarted(startServer, shards)

/** The same with keys and an internal token, as a configured server has them. */
export const useApiServer = (shards = 1): (() => TestServer) => useStarted(startApiServer, shards)

const useStarted = (
  start: (urls: readonly string[]) => Promise<TestServer>,
  shards: number,
): (() => TestServer) => {
  let databases: readonly TestDatabase[]
  let server: TestServer
  beforeAll(async () => {
    databases = await Promise.all(Array.from({ length: shards }, () => createTestDatabase()))
    server = await start(databases.map(({ url }) => url))
  })
  afterAll(async () => {
    await server.close()
    await Promise.all(databases.map((database) => database.drop()))
  })
  return () => server
}
