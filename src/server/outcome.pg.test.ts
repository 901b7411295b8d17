import { expect, test } from 'vitest'
import { startHearingPair } from '../../test/support/hearing-servers.ts'
import { aNote } from '../../test/support/inputs.ts'
import { single } from '../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../test/support/scripted-worker.ts'
import { useServers } from '../../test/support/servers.ts'
import { untilEnded } from './outcome.ts'

const servers = useServers()
const MINUTE = 60_000
const nobodyLeaves = new AbortController().signal

test('whoever waits for an end is told of it, also when another server wrote it', async () => {
  const [here, there] = await startHearingPair(servers)
  await here.register(single('tests/waited-for'))
  const id = await here.execute('tests/waited-for')
  const waiting = [here, there].map(({ core }) => untilEnded(core, id, MINUTE, nobodyLeaves))
  // A change that is not the end ends no wait.
  await here.core.tell(id, aNote())
  await createScriptedWorker(here, 'w').drain()
  await Promise.all(waiting)
  expect((await there.get(`/api/executions/${id}/result`)).body['status']).toBe('COMPLETED')
})

test('a wait ends with its time, with the one who waits, and at once when there is nothing to wait for', async () => {
  const server = await servers.start()
  await server.register(single('tests/waited-for'))
  const id = await server.execute('tests/waited-for')
  await untilEnded(server.core, id, 0, nobodyLeaves)
  await untilEnded(server.core, '77', MINUTE, nobodyLeaves)
  await untilEnded(server.core, id, MINUTE, AbortSignal.abort())
  const leaving = new AbortController()
  const waiting = untilEnded(server.core, id, MINUTE, leaving.signal)
  leaving.abort()
  await waiting
  expect((await server.get(`/api/executions/${id}/result?wait_ms=1`)).body['status']).toBe('RUNNING')
})
