/**
 * Everything goes wrong at once, and the promises hold: two servers, workers that die, answer twice, answer late or
 * through the wrong server, leases too short for the machine, clients that repeat themselves.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { LeasedCommand } from '../contract/command.ts'
import { historyProblems, readLog, stuckExecutions } from '../../test/support/history.ts'
import { nextTestId } from '../../test/support/appends.ts'
import { chain, fanOut, loopOver } from '../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../test/support/scripted-worker.ts'
import type { TestServer } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'

const servers = useServers()

const EXECUTIONS = 60
const WORKERS = 6
const LEASE_SECONDS = 0.3
const SEED = 20_261_115

const seeded = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const random = seeded(SEED)
const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T

/** One worker: leases through either server and does anything at all with what it gets. */
const misbehave = async (pair: readonly TestServer[], name: string, isOver: () => boolean): Promise<void> => {
  const faces = pair.map((server) => createScriptedWorker(server, name))
  const act = async (command: LeasedCommand): Promise<unknown> => {
    const luck = random()
    if (luck < 0.12) return undefined
    if (luck < 0.2) return pick(faces).release(command)
    if (luck < 0.25) return pick(faces).fail(command, 'unlucky')
    if (luck < 0.4) return Promise.all(faces.map((face) => face.complete(command, { by: name })))
    if (luck < 0.45) {
      await sleep(LEASE_SECONDS * 1500)
      return pick(faces).complete(command, { late: true })
    }
    return pick(faces).complete(command, { by: name })
  }
  while (!isOver()) {
    const commands = await pick(faces).lease(1 + Math.floor(random() * 4))
    await Promise.all(commands.map(act))
    if (commands.length === 0) await sleep(10)
  }
}

/** Sends every remark to both servers, some of them again and again. */
const remark = async (pair: readonly TestServer[], id: string): Promise<string> => {
  const eventId = nextTestId()
  const body = {
    execution_id: id,
    step: 'start',
    event_type: 'note',
    event_id: eventId,
    payload: { text: 'hello' },
  }
  const answers = await Promise.all([...pair, pick(pair)].map((server) => server.post('/api/events', body)))
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200])
  return eventId
}

test('every execution ends, and every history is sound', { timeout: 180_000 }, async () => {
  const pair = [
    await servers.start({ leaseSeconds: LEASE_SECONDS }),
    await servers.start({ leaseSeconds: LEASE_SECONDS, cachedExecutions: 5 }),
  ]
  const [first] = pair
  if (!first) throw new Error('no server')
  const database = first.core.shards.cluster
  await Promise.all([
    first.register(chain('chaos/chain', 4)),
    first.register(fanOut('chaos/fan', 5)),
    first.register(loopOver('chaos/loop', 9)),
  ])
  const ids = await Promise.all(
    Array.from({ length: EXECUTIONS }, () =>
      pick(pair).execute(pick(['chaos/chain', 'chaos/fan', 'chaos/loop'])),
    ),
  )

  let over = false
  const workers = Array.from({ length: WORKERS }, (_, index) => misbehave(pair, `w${index}`, () => over))
  const remarks = ids.slice(0, 20).map(async (id) => {
    await sleep(random() * 500)
    return { id, eventId: await remark(pair, id) }
  })
  const running = async (): Promise<number> => {
    const { rows } = await database.query<{ count: string }>(
      `select count(*) as count from noetl.execution where status = 'RUNNING'`,
    )
    return Number(rows[0]?.count)
  }
  while ((await running()) > 0) {
    await Promise.all(pair.map((server) => server.reaper.runOnce()))
    expect(await stuckExecutions([database])).toEqual([])
    await sleep(30)
  }
  over = true
  await Promise.all(workers)

  for (const id of ids)
    expect({ id, problems: await historyProblems(database, id) }).toEqual({ id, problems: [] })
  for (const { id, eventId } of await Promise.all(remarks)) {
    expect((await readLog(database, id)).filter((event) => event.eventId === eventId)).toHaveLength(1)
  }
  const statuses = await Promise.all(
    ids.map(async (id) => (await first.get(`/api/executions/${id}`)).body['status']),
  )
  expect(new Set(statuses)).toEqual(new Set(['COMPLETED', 'FAILED']))
  // The test is worth something only if things did go wrong.
  const types = (await Promise.all(ids.map((id) => readLog(database, id))))
    .flat()
    .map((event) => event.eventType)
  expect(types.filter((type) => type === 'command.released').length).toBeGreaterThan(20)
  expect(pair.reduce((sum, server) => sum + server.core.conflicts(), 0)).toBeGreaterThan(20)
})
