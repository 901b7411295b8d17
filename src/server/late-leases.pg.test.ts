/** A server that is held up between taking a lease and recording it. */
import { afterEach, expect, test, vi } from 'vitest'
import { expireLeases, historyProblems, stuckExecutions } from '../../test/support/history.ts'
import { single } from '../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../test/support/scripted-worker.ts'
import { useServers } from '../../test/support/servers.ts'
import type { Core } from './core.ts'
import { createLeases } from './leases.ts'

const servers = useServers()
afterEach(() => vi.restoreAllMocks())

const LEASE_SECONDS = 60

test('a lease that was over when it was recorded is handed to nobody', async () => {
  const server = await servers.start({ leaseSeconds: LEASE_SECONDS })
  await server.register(single('tests/late'))
  const id = await server.execute('tests/late')
  const database = server.core.shards.of(id)
  const tell: Core['tell'] = async (executionId, input) => {
    const told = await server.core.tell(executionId, input)
    const late = performance.now() + LEASE_SECONDS * 1000
    vi.spyOn(performance, 'now').mockReturnValue(late)
    return told
  }
  const { signal } = new AbortController()
  const held = createLeases({ ...server.core, tell })
  expect(await held.lease({ workerId: 'w1', pool: 'shared', max: 1, waitMs: 0, signal })).toEqual([])
  vi.restoreAllMocks()

  await expireLeases(server.databases)
  expect(await server.reaper.runOnce()).toBe(1)
  expect(await createScriptedWorker(server, 'w2').drain()).toBe(1)
  expect(await historyProblems(database, id)).toEqual([])
  expect(await stuckExecutions(server.databases)).toEqual([])
})
