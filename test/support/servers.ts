/**
 * Fresh databases for every test, and servers on them: all servers of a test share the databases. After each test what is
 * stored must be what the logs say, unless the test is one that changes what is stored behind the servers' backs.
 */
import { afterEach, beforeEach, expect } from 'vitest'
import { storedDifferences } from './history.ts'
import type { TestDatabase } from './postgres.ts'
import { createTestDatabase } from './postgres.ts'
import type { TestServer, TestServerOptions } from './server.ts'
import { startServer } from './server.ts'

export interface Servers {
  /** Starts another server on the databases; it is closed after the test. */
  start(options?: TestServerOptions): Promise<TestServer>
  /** To be said by a test that leaves the tables as no server would. */
  leaveUnexamined(): void
}

export const useServers = (shards = 1): Servers => {
  const databases: TestDatabase[] = []
  const running: TestServer[] = []
  let isExamined = true
  beforeEach(async () => {
    databases.push(...(await Promise.all(Array.from({ length: shards }, () => createTestDatabase()))))
  })
  afterEach(async () => {
    const [server] = running
    const differences = server && isExamined ? await storedDifferences(server.core) : []
    isExamined = true
    await Promise.all(running.splice(0).map((server) => server.close()))
    await Promise.all(databases.splice(0).map((database) => database.drop()))
    expect(differences).toEqual([])
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
    leaveUnexamined: () => {
      isExamined = false
    },
  }
}
