import { describe, expect, test } from 'vitest'
import { encodeState } from '../engine/snapshot.ts'
import { createState } from '../engine/state.ts'
import { foldedText, historyProblems, stuckExecutions } from '../../test/support/history.ts'
import { aNote } from '../../test/support/inputs.ts'
import { chain, fanOut, loopOver } from '../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../test/support/scripted-worker.ts'
import { testSealer } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'
import type { Database } from '../store/database.ts'
import { readSnapshot } from '../store/snapshots.ts'
import { isSnapshotDue, loadState, saveSnapshot } from './state-loader.ts'

const servers = useServers()

/** Awkward data: what JSON, templates and the database like to change. */
const AWKWARD = {
  z: 1,
  a: [1e16, '9223372036854775807', -0.5],
  password: 'p\0w',
  text: 'lone \ud800 nul \0',
  nested: { token: 'a-secret-long-enough', null: null },
}

describe('state', () => {
  test.each([
    ['a chain', chain('tests/recover', 5)],
    ['a fan-out', fanOut('tests/recover', 4)],
    ['a loop', loopOver('tests/recover', 6)],
  ])('of %s is the fold of what was written, at every point', async (_name, playbook) => {
    const server = await servers.start()
    await server.register(playbook)
    const id = await server.execute('tests/recover', { secret: 'workload\0' })
    const database = server.core.shards.of(id)
    const live: string[] = []
    server.core.onCommit((state) => live.push(encodeState(state)))
    const worker = createScriptedWorker(server, 'w1')
    for (let [command] = await worker.lease(); command; [command] = await worker.lease()) {
      await worker.complete(command, AWKWARD)
      expect(await foldedText(database, id)).toBe(live.at(-1))
    }
    expect(live.length).toBeGreaterThan(5)
    expect(await historyProblems(database, id)).toEqual([])
  })

  test('from a snapshot and the events after it equals the state from all events', async () => {
    const server = await servers.start()
    await server.register(loopOver('tests/recover', 900))
    const id = await server.execute('tests/recover')
    const database = server.core.shards.of(id)
    const worker = createScriptedWorker(server, 'w1')
    let snapshots = 0
    for (let commands = await worker.lease(100); commands.length > 0; commands = await worker.lease(100)) {
      await Promise.all(commands.map((command) => worker.complete(command, AWKWARD)))
      // Snapshots are written beside the path: the first has to arrive, later ones may while this goes on.
      await expect.poll(() => readSnapshot(database, id)).not.toBeNull()
      await server.core.tell(id, aNote())
      const loaded = await loadState(database, id, testSealer)
      expect(loaded && encodeState(loaded.state)).toBe(await foldedText(database, id))
      if ((loaded?.snapshotPosition ?? 0) > 0) snapshots += 1
    }
    expect(snapshots).toBeGreaterThan(3)
    expect((await readSnapshot(database, id))?.state.toString('latin1')).not.toContain('a-secret-long-enough')
    expect(await historyProblems(database, id)).toEqual([])
  })

  test('from a snapshot of another format is folded anew', async () => {
    const server = await servers.start()
    await server.register(chain('tests/recover', 2))
    const id = await server.execute('tests/recover')
    const database = server.core.shards.of(id)
    const state = testSealer.seal(JSON.stringify({ format: 0, position: 3 }))
    await database.query('insert into noetl.snapshot (execution_id, position, state) values ($1, 3, $2)', [
      id,
      state,
    ])
    const loaded = await loadState(database, id, testSealer)
    expect(loaded?.snapshotPosition).toBe(0)
    expect(loaded && encodeState(loaded.state)).toBe(await foldedText(database, id))
  })

  test('of an execution that does not exist is nothing', async () => {
    const server = await servers.start()
    expect(await loadState(server.core.shards.cluster, '42', testSealer)).toBeNull()
  })
})

test('a server that replaces another one goes on wherever that one was', async () => {
  const first = await servers.start()
  await first.register(fanOut('tests/recover', 3))
  const id = await first.execute('tests/recover')
  const database = first.core.shards.of(id)
  for (let round = 0; round < 10; round += 1) {
    const server = await servers.start()
    const worker = createScriptedWorker(server, `w${round}`)
    const [command] = await worker.lease()
    if (command) await worker.complete(command, { round })
    expect(await historyProblems(database, id)).toEqual([])
    expect(await stuckExecutions(server.databases)).toEqual([])
  }
  expect((await first.get(`/api/executions/${id}`)).body).toMatchObject({ status: 'COMPLETED' })
})

test('however large a state grows, the share of an event in all snapshots stays bounded', async () => {
  const lengths: number[] = []
  const write = { query: async () => void lengths.push(state.position * 60) } as unknown as Database
  const state = createState('1')
  let last = 0
  for (state.position = 1; state.position <= 100_000; state.position += 1) {
    if (!isSnapshotDue(state.position, last)) continue
    last = state.position
    // As a loop does: something is added with every event.
    state.vars['results'] = 'x'.repeat(state.position * 60)
    await saveSnapshot(write, state, testSealer)
  }
  expect(lengths.reduce((sum, length) => sum + length, 0) / 100_000).toBeLessThan(3000)
  expect(lengths.length).toBeGreaterThan(20)
})
