import { expect, test } from 'vitest'
import type { LeasedCommand } from '../contract/command.ts'
import { breakHearing, startHearingPair } from '../../test/support/hearing-servers.ts'
import { onlyWoken } from '../../test/support/only-woken.ts'
import { chain, single } from '../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../test/support/scripted-worker.ts'
import { useServers } from '../../test/support/servers.ts'

const servers = useServers()
const ROUNDS = 25
const LONG_MS = 3_600_000

test('work that is issued at one server wakes a worker that waits at the other', async () => {
  const [here, there] = await startHearingPair(servers, onlyWoken)
  await here.register(single('tests/wake'))
  const { signal } = new AbortController()
  for (let round = 0; round < ROUNDS; round += 1) {
    const waiting = there.leases.lease({ workerId: 'w', pool: 'shared', max: 1, waitMs: LONG_MS, signal })
    const id = await here.execute('tests/wake')
    const [command] = await waiting
    expect(command?.executionId).toBe(id)
    await createScriptedWorker(there, 'w').complete(command as LeasedCommand)
  }
})

test('a chain whose steps are done at two servers in turn runs through', async () => {
  const [here, there] = await startHearingPair(servers)
  await here.register(chain('tests/wake', 10))
  const id = await here.execute('tests/wake')
  const { signal } = new AbortController()
  for (let step = 0; step < 10; step += 1) {
    const server = step % 2 === 0 ? there : here
    const [command] = await server.leases.lease({
      workerId: 'w',
      pool: 'shared',
      max: 1,
      waitMs: 20_000,
      signal,
    })
    await createScriptedWorker(server, 'w').complete(command as LeasedCommand)
  }
  expect((await here.get(`/api/executions/${id}/status`)).body['status']).toBe('COMPLETED')
})

test('work is found although the servers do not hear each other any more', async () => {
  const [here, there] = await startHearingPair(servers)
  await here.register(single('tests/wake'))
  const { signal } = new AbortController()
  const waiting = there.leases.lease({ workerId: 'w', pool: 'shared', max: 1, waitMs: 20_000, signal })
  await breakHearing(here)
  const id = await here.execute('tests/wake')
  expect((await waiting)[0]?.executionId).toBe(id)
})
