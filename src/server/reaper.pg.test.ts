/** A reaper that is held up between taking a lease over and saying so. */
import { expect, test } from 'vitest'
import { eventTypes, expireLeases, historyProblems, stuckExecutions } from '../../test/support/history.ts'
import { single } from '../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../test/support/scripted-worker.ts'
import { useServers } from '../../test/support/servers.ts'
import type { Core } from './core.ts'
import { createReaper } from './reaper.ts'

const servers = useServers()

/** The core, for which everything that is told waits until it is let go. */
const heldUp = (core: Core): { readonly core: Core; readonly reached: Promise<void>; letGo(): void } => {
  const gate = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  const tell: Core['tell'] = async (executionId, input) => {
    reached.resolve()
    await gate.promise
    return core.tell(executionId, input)
  }
  return { core: { ...core, tell }, reached: reached.promise, letGo: gate.resolve }
}

test('leaves the lease alone that was given while it was held up (1)', async () => {
  const server = await servers.start()
  await server.register(single('tests/held-up'))
  const id = await server.execute('tests/held-up')
  const database = server.core.shards.of(id)
  await createScriptedWorker(server, 'lost').lease()
  await expireLeases(server.databases)
  const late = heldUp(server.core)
  const reaping = createReaper(late.core).runOnce()
  await late.reached

  // Its own lease runs out, too; another reaper does its work, and another worker takes the command.
  await expireLeases(server.databases)
  await server.reaper.runOnce()
  const worker = createScriptedWorker(server, 'w2')
  const [command] = await worker.lease()
  if (!command) throw new Error('nothing to lease')
  late.letGo()
  await reaping

  expect(await createScriptedWorker(server, 'w3').lease()).toEqual([])
  expect(await worker.complete(command)).toBe('ok')
  const types = await eventTypes(database, id)
  expect(types.filter((type) => type === 'command.released')).toHaveLength(1)
  expect(types.filter((type) => type === 'command.claimed')).toHaveLength(2)
  expect(await historyProblems(database, id)).toEqual([])
  expect(await stuckExecutions(server.databases)).toEqual([])
})

test('ends a lease that ran out before it was recorded (1)', async () => {
  const server = await servers.start()
  await server.register(single('tests/held-up'))
  const id = await server.execute('tests/held-up')
  const database = server.core.shards.of(id)
  await database.query(
    `update noetl.command set status = 'CLAIMED', worker_id = 'unheard', lease_token = 1, attempt = 1,
       lease_until = now() - interval '1 second' where execution_id = $1`,
    [id],
  )
  expect(await server.reaper.runOnce()).toBe(1)
  expect(await createScriptedWorker(server, 'w1').drain()).toBe(1)
  expect(await historyProblems(database, id)).toEqual([])
})
