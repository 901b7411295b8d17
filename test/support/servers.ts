/** Fresh databases for every test, and servers on them: all servers of a test share the databases. */
import { afterEach, beforeEach } from 'vitest'
import type { TestDatabase } from './postgres.ts'
import { createTestDatabase } from './postgres.ts'
import type { TestServer, TestServerOptions } from './server.ts'
import { startServer } from './server.ts'

export interface Servers {
  /** Starts another server on the databases; it is closed after the test. */
  start(options?: TestServerOptions): Promise<TestServer>
}

export const useServers = (shards = 1): Servers => {
  const databases: TestDatabase[] = []
  const running: TestServer[] = []
  beforeEach(async () => {
    databases.push(...(await Promise.all(Array.from({ length: shards }, () => createTestDatabase()))))
  })
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.close()))
    await Promise.all(databases.splice(0).map((database) => database.drop()))
  })
  return {
    start: async (options) => {
      const server = await startServer(
        databases.map((database) => database.url),
        options,
      )
      running.push(server)
      return server
    },
  }
}
