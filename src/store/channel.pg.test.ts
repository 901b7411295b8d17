import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sharedDispatcherSuite, untilHearing } from '../dispatch/dispatcher.suite.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { createPostgresDispatcher } from '../dispatch/postgres.ts'
import type { TestDatabase } from '../../test/support/postgres.ts'
import { createTestDatabase } from '../../test/support/postgres.ts'
import { openChannel } from './channel.ts'

let database: TestDatabase
let admin: Client

beforeAll(async () => {
  database = await createTestDatabase()
  admin = new Client({ connectionString: database.url })
  await admin.connect()
})

afterAll(async () => {
  await admin.end()
  await database.drop()
})

const open = (url: string): Dispatcher =>
  createPostgresDispatcher((events) =>
    openChannel({ url, name: 'noetl_wake', events, onError: () => undefined }),
  )

sharedDispatcherSuite('postgres', {
  create: async () => {
    const dispatcher = open(database.url)
    await untilHearing(dispatcher)
    return dispatcher
  },
  interrupt: async () => {
    await admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'noetl noetl_wake' and datname = current_database()",
    )
  },
})

test('a dispatcher without a database wakes its own process, and closes', async () => {
  const dispatcher = open('postgres://nobody@127.0.0.1:1/nothing')
  const wait = dispatcher.wait('shared', 20_000, new AbortController().signal)
  dispatcher.notify('shared')
  await wait
  expect(dispatcher.hearsOthers()).toBe(false)
  await dispatcher.close()
})
