import { expect, test } from 'vitest'
import { expireLeases, historyProblems, stuckExecutions } from '../../test/support/history.ts'
import { chain } from '../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../test/support/scripted-worker.ts'
import { useServers } from '../../test/support/servers.ts'
import type { Database } from '../store/database.ts'
import { shardFor } from '../store/shards.ts'

const servers = useServers(2)

test('with two databases every execution lies where its id says, and every route finds it', async () => {
  const server = await servers.start()
  const catalogId = await server.register(chain('tests/sharded', 2))
  const ids = await Promise.all(Array.from({ length: 20 }, () => server.execute('tests/sharded')))
  const shardsUsed = new Set(ids.map((id) => shardFor(id, 2)))
  expect(shardsUsed).toEqual(new Set([0, 1]))
  for (const [index, database] of server.databases.entries()) {
    const { rows } = await database.query<{ execution_id: string }>(
      'select execution_id from noetl.execution',
    )
    expect(rows.map((row) => row.execution_id).sort()).toEqual(
      ids.filter((id) => shardFor(id, 2) === index).sort(),
    )
  }

  const listed = (await server.get(`/api/executions?catalog_id=${catalogId}&limit=15&offset=2`))
    .body as unknown as { execution_id: string }[]
  expect(listed.map((item) => item.execution_id)).toEqual(
    ids.toSorted((a, b) => (BigInt(a) < BigInt(b) ? 1 : -1)).slice(2, 17),
  )

  // One lease brings commands of both databases; heartbeat, claim, release and report find theirs.
  const worker = createScriptedWorker(server, 'w1')
  const commands = await worker.lease(100)
  expect(commands).toHaveLength(20)
  const keys = commands.map(({ executionId, eventId, leaseToken }) => ({
    execution_id: executionId,
    event_id: eventId,
    lease_token: leaseToken,
  }))
  expect((await server.post('/api/commands/heartbeat', { worker_id: 'w1', leases: keys })).body).toEqual({
    statuses: keys.map(() => 'ok'),
  })
  for (const { eventId, executionId } of commands.slice(0, 4)) {
    expect((await server.get(`/api/commands/${eventId}`)).body).toMatchObject({ execution_id: executionId })
    expect((await server.post(`/api/commands/${eventId}/claim`, { worker_id: 'w1' })).status).toBe(200)
  }
  await server.post('/api/commands/release', { worker_id: 'w1', leases: keys })
  expect(await worker.lease(100)).toHaveLength(20)
  await expireLeases(server.databases)
  expect(await server.reaper.runOnce()).toBe(20)
  expect(await worker.drain()).toBe(40)

  for (const id of ids) {
    expect((await server.get(`/api/executions/${id}/status`)).body['status']).toBe('COMPLETED')
    expect((await server.get(`/api/executions/${id}/events`)).body['last_position']).toBe(
      (await server.get(`/api/executions/${id}`)).body['event_count'],
    )
    expect(await historyProblems(server.core.shards.of(id), id)).toEqual([])
  }
  expect(await stuckExecutions(server.databases)).toEqual([])
})

test('a database that cannot be reached costs the commands of the others nothing', async () => {
  const server = await servers.start()
  await server.register(chain('tests/half', 1))
  const ids = await Promise.all(Array.from({ length: 20 }, () => server.execute('tests/half')))
  const healthy = ids.filter((id) => shardFor(id, 2) === 1)
  const [broken, other] = server.databases as [Database, Database]
  const query = broken.query.bind(broken) as (...given: unknown[]) => Promise<unknown>
  const outage = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  const isDown = (statement: unknown): boolean =>
    ['lease-ordinary', 'take-expired', 'take-due-timers'].includes((statement as { name: string }).name)
  Object.assign(broken, {
    query: (...given: unknown[]) => (isDown(given[0]) ? Promise.reject(outage) : query(...given)),
  })

  const worker = createScriptedWorker(server, 'w1')
  expect(new Set((await worker.lease(100)).map((command) => command.executionId))).toEqual(new Set(healthy))
  // Leases that run out there are ended as ever, although the first database cannot be looked at.
  await expireLeases([other])
  await expect(server.reaper.runOnce()).rejects.toThrow('ECONNREFUSED')
  expect(await worker.lease(100)).toHaveLength(healthy.length)
  // With nothing to give, the worker is told why.
  expect((await server.post('/api/commands/lease', { worker_id: 'w1' })).status).toBe(503)
})
