/** Servers on one database that hear each other over it, as `noetl up` on a database of the user does. */
import type { Dispatcher } from '../../src/dispatch/dispatcher.ts'
import { createPostgresDispatcher } from '../../src/dispatch/postgres.ts'
import { untilHearing } from '../../src/dispatch/dispatcher.suite.ts'
import { openChannel } from '../../src/store/channel.ts'
import type { TestServer } from './server.ts'
import type { Servers } from './servers.ts'

export const startHearingPair = async (
  servers: Servers,
  adapt: (dispatcher: Dispatcher) => Dispatcher = (dispatcher) => dispatcher,
): Promise<readonly [TestServer, TestServer]> => {
  const { core } = await servers.start()
  const url = core.shards.cluster.options.connectionString ?? ''
  const open = async (): Promise<TestServer> => {
    const dispatcher = createPostgresDispatcher((events) =>
      openChannel({ url, name: 'noetl_wake', events, onError: () => undefined }),
    )
    await untilHearing(dispatcher)
    return servers.start({ dispatcher: adapt(dispatcher) })
  }
  return [await open(), await open()]
}

/** Breaks the connections over which they hear each other. */
export const breakHearing = async ({ core }: TestServer): Promise<void> => {
  await core.shards.cluster.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'noetl noetl_wake' and datname = current_database()",
  )
}
