/** Heartbeats whose answer waits for a cancel. Leases last so long here that no wait ends by itself. */
import { expect, test } from 'vitest'
import type { LeasedCommand } from '../contract/command.ts'
import { startHearingPair } from '../../test/support/hearing-servers.ts'
import { loopOver, single } from '../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../test/support/scripted-worker.ts'
import type { TestServer } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'

const servers = useServers()
const WAIT_MS = 60_000

const start = async (): Promise<TestServer> => {
  const server = await servers.start({ leaseSeconds: 3600 })
  await server.register(single('tests/watch'))
  return server
}

const leaseAll = (server: TestServer): Promise<readonly LeasedCommand[]> => {
  const { signal } = new AbortController()
  return server.leases.lease({ workerId: 'w1', pool: 'shared', max: 10, waitMs: 20_000, signal })
}

const cancel = async (server: TestServer, id: string): Promise<void> => {
  expect((await server.post(`/api/executions/${id}/cancel`, {})).status).toBe(200)
}

/** Resolves once the leases were extended by what `ask` began, so that its wait is open. */
const whileWaiting = async <T>(
  server: TestServer,
  commands: readonly LeasedCommand[],
  ask: () => Promise<T>,
): Promise<{ readonly answer: Promise<T> }> => {
  const ends = async (): Promise<string> => {
    const { rows } = await server.core.shards.cluster.query<{ ends: string }>(
      "select string_agg(lease_until::text, ' ' order by event_id) as ends from noetl.command where event_id = any ($1::bigint[])",
      [commands.map(({ eventId }) => eventId)],
    )
    return rows[0]?.ends ?? ''
  }
  const before = await ends()
  const answer = ask()
  while ((await ends()) === before) await new Promise((resolve) => setImmediate(resolve))
  return { answer }
}

const beginWait = (
  server: TestServer,
  commands: readonly LeasedCommand[],
  signal = new AbortController().signal,
) =>
  whileWaiting(server, commands, () => server.leases.heartbeat('w1', commands, { waitMs: WAIT_MS, signal }))

test('a cancel answers the heartbeat that waits, and only what was cancelled is said to be', async () => {
  const server = await start()
  const id = await server.execute('tests/watch')
  await server.execute('tests/watch')
  const commands = await leaseAll(server)
  const { answer } = await beginWait(server, commands)
  await cancel(server, id)
  expect(await answer).toEqual(commands.map(({ executionId }) => (executionId === id ? 'cancelled' : 'ok')))
})

test('a cancel before the wait began is not missed (1)', async () => {
  const server = await start()
  const id = await server.execute('tests/watch')
  const commands = await leaseAll(server)
  const { signal } = new AbortController()
  const answer = server.leases.heartbeat('w1', commands, { waitMs: WAIT_MS, signal })
  await cancel(server, id)
  expect(await answer).toEqual(['cancelled'])
  expect(await server.leases.heartbeat('w1', commands, { waitMs: WAIT_MS, signal })).toEqual(['cancelled'])
})

test('what its holder reports meanwhile is no reason to answer', async () => {
  const server = await start()
  const [done, id] = [await server.execute('tests/watch'), await server.execute('tests/watch')]
  const commands = await leaseAll(server)
  const { answer } = await beginWait(server, commands)
  const finished = commands.find(({ executionId }) => executionId === done)
  await createScriptedWorker(server, 'w1').complete(finished as LeasedCommand)
  expect((await server.get(`/api/executions/${done}/status`)).body['status']).toBe('COMPLETED')
  await cancel(server, id)
  // Both are told: had the end of the first been answered, the second would still be in order.
  expect(await answer).toEqual(commands.map(({ executionId }) => (executionId === id ? 'cancelled' : 'lost')))
})

test('an execution that changes all the time is waited beside until it is cancelled (2)', async () => {
  const server = await start()
  await server.register(loopOver('tests/busy', 6))
  const id = await server.execute('tests/busy')
  const [held, ...others] = await leaseAll(server)
  const { answer } = await beginWait(server, [held as LeasedCommand])
  const worker = createScriptedWorker(server, 'w1')
  for (const command of others) await worker.complete(command)
  await cancel(server, id)
  expect(await answer).toEqual(['cancelled'])
})

test('a lease that is lost already is answered at once', async () => {
  const server = await start()
  await server.execute('tests/watch')
  const [command] = await leaseAll(server)
  const stale = { ...(command as LeasedCommand), leaseToken: '9' }
  const { signal } = new AbortController()
  expect(await server.leases.heartbeat('w1', [stale], { waitMs: WAIT_MS, signal })).toEqual(['lost'])
})

test('a cancel at another server answers it, too', async () => {
  const [here, there] = await startHearingPair(servers)
  await here.register(single('tests/watch'))
  const id = await here.execute('tests/watch')
  const { answer } = await beginWait(there, await leaseAll(there))
  await cancel(here, id)
  expect(await answer).toEqual(['cancelled'])
})

test('a caller that goes away ends the wait', async () => {
  const server = await start()
  await server.execute('tests/watch')
  const gone = new AbortController()
  const { answer } = await beginWait(server, await leaseAll(server), gone.signal)
  gone.abort()
  expect(await answer).toEqual(['ok'])
})

test('nobody waits longer than a quarter of a lease', async () => {
  const server = await servers.start({ leaseSeconds: 1 })
  await server.register(single('tests/watch'))
  await server.execute('tests/watch')
  const { signal } = new AbortController()
  const commands = await leaseAll(server)
  expect(await server.leases.heartbeat('w1', commands, { waitMs: WAIT_MS, signal })).toEqual(['ok'])
})

test('over HTTP, a server that stops answers those who wait', async () => {
  const server = await start()
  await server.execute('tests/watch')
  const commands = await leaseAll(server)
  const leases = commands.map((command) => ({
    execution_id: command.executionId,
    event_id: command.eventId,
    lease_token: command.leaseToken,
  }))
  const ask = (body: object) => server.post('/api/commands/heartbeat', { worker_id: 'w1', leases, ...body })
  expect((await ask({ wait_ms: 0 })).body).toEqual({ statuses: ['ok'] })
  for (const wait_ms of [-1, 60_001, 1.5, 'long']) expect((await ask({ wait_ms })).status).toBe(422)
  const { answer } = await whileWaiting(server, commands, () => ask({ wait_ms: WAIT_MS }))
  server.stopStreams()
  expect((await answer).body).toEqual({ statuses: ['ok'] })
})
