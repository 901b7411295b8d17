import { expect, test } from 'vitest'
import type { TestServer } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'
import { single } from '../../test/support/playbooks.ts'
import { createSilenceKeeper } from './silence-keeper.ts'

const servers = useServers()

interface Lease {
  readonly status: string
  readonly worker_id: string | null
  readonly left: number
  readonly event_id: string
}

const leaseOf = async (server: TestServer): Promise<Lease> => {
  const [database] = server.databases
  const { rows } = await (database as NonNullable<typeof database>).query<Lease>(
    `select event_id, status, worker_id, extract(epoch from lease_until - now())::float8 as left from noetl.command`,
  )
  return rows[0] as Lease
}

const silence = (server: TestServer, name: string, seconds: number) =>
  server.databases[0]?.query(
    `update noetl.runtime set heartbeat = now() - $2 * interval '1 second' where name = $1`,
    [name, seconds],
  )

/** An execution whose command a worker claimed that sends heartbeats only for itself. */
const claimed = async (name = 'worker-1') => {
  const server = await servers.start()
  await server.register(single('tests/one'))
  await server.execute('tests/one')
  await server.post('/api/worker/pool/register', { name, component_type: 'worker_pool', status: 'ready' })
  const { event_id } = await leaseOf(server)
  expect((await server.post(`/api/commands/${event_id}/claim`, { worker_id: name })).status).toBe(200)
  return { server, keeper: createSilenceKeeper(server.core), name }
}

test('the lease of a worker that fell silent ends, and its command goes to another', async () => {
  const { server, keeper, name } = await claimed()
  expect((await leaseOf(server)).left).toBeGreaterThan(1700)
  await silence(server, name, 89)
  expect(await keeper.runOnce()).toBe(0)
  await silence(server, name, 91)
  expect(await keeper.runOnce()).toBe(1)
  expect(await server.reaper.runOnce()).toBe(1)
  expect(await leaseOf(server)).toMatchObject({ status: 'PENDING', worker_id: null })
})

test('a worker that lives keeps its lease for as long as it needs', async () => {
  const { server, keeper, name } = await claimed()
  await server.databases[0]?.query(`update noetl.command set lease_until = now() + interval '300 seconds'`)
  await server.post('/api/worker/pool/heartbeat', { name })
  expect((await leaseOf(server)).left).toBeGreaterThan(1700)
  expect(await keeper.runOnce()).toBe(0)
})

test('leases that are extended one by one are left alone', async () => {
  const { server, keeper, name } = await claimed()
  await server.databases[0]?.query(`update noetl.command set lease_until = now() + interval '60 seconds'`)
  await server.post('/api/worker/pool/heartbeat', { name })
  await silence(server, name, 500)
  expect(await keeper.runOnce()).toBe(0)
  expect((await leaseOf(server)).left).toBeLessThan(61)
})
