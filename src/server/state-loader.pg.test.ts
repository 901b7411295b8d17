/** States from the store at any position. Numbers are those of the header of state-loader.ts. */
import { expect, test } from 'vitest'
import { evolve } from '../engine/evolve.ts'
import { encodeState } from '../engine/snapshot.ts'
import { createState } from '../engine/state.ts'
import { readLog } from '../../test/support/history.ts'
import { loopOver } from '../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../test/support/scripted-worker.ts'
import { testSealer } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'
import { listSnapshots } from '../store/snapshots.ts'
import { isSnapshotDue, keepNearby, loadState, loadStateAt, saveSnapshot } from './state-loader.ts'

const servers = useServers()

test('the state at every position is the fold up to there, whatever snapshots there are (1)', async () => {
  const server = await servers.start()
  await server.register(loopOver('tests/asof', 400))
  const id = await server.execute('tests/asof')
  const worker = createScriptedWorker(server, 'w1')
  await worker.drain()
  await server.core.idle()
  const database = server.core.shards.of(id)
  const log = await readLog(database, id)
  expect(log.length).toBeGreaterThan(1000)
  // The mailbox wrote some of them on its way (2).
  await expect.poll(() => listSnapshots(database, id)).not.toEqual([])
  const whole = createState(id)
  for (const event of log) {
    evolve(whole, event)
    if (event.position % 97 !== 0 && event.position > 3 && event.position < log.length - 3) continue
    const state = await loadStateAt(database, id, testSealer, event.position)
    expect(state && encodeState(state), `at ${event.position}`).toBe(encodeState(whole))
  }
  const newest = await loadState(database, id, testSealer)
  expect(newest && encodeState(newest.state)).toBe(encodeState(whole))
  // One that cannot be read is passed over (3).
  const snapshots = await listSnapshots(database, id)
  for (const damaged of [snapshots.at(-1), ...snapshots]) {
    await database.query('update noetl.snapshot set state = $3 where execution_id = $1 and position = $2', [
      id,
      damaged?.position,
      Buffer.from('damaged'),
    ])
    const again = await loadState(database, id, testSealer)
    expect(again && encodeState(again.state)).toBe(encodeState(whole))
  }
  await database.query('delete from noetl.snapshot where execution_id = $1', [id])
})

test('a stretch without a snapshot gets one when somebody looks there (4)', async () => {
  const server = await servers.start()
  await server.register(loopOver('tests/gap', 400))
  const written = await server.execute('tests/gap')
  await createScriptedWorker(server, 'w1').drain()
  const database = server.core.shards.of(written)
  // The same log where nobody writes snapshots on the way.
  const id = '99'
  await database.query(
    `insert into noetl.event (execution_id, position, event_id, created_at, event_type, node_name, meta, context, result_status, result_context)
     select $2, position, event_id, created_at, event_type, node_name, meta, context, result_status, result_context
     from noetl.event where execution_id = $1`,
    [written, id],
  )
  const look = async (position: number): Promise<void> => {
    const state = await loadStateAt(database, id, testSealer, position)
    if (state) await keepNearby(database, state, testSealer)
  }
  await look(900)
  expect(await listSnapshots(database, id)).toEqual([])
  await look(1100)
  await look(1150)
  expect((await listSnapshots(database, id)).map(({ position }) => position)).toEqual([1100])
})

test('a snapshot is due every few hundred events, and written only when the state is small enough for it (2)', async () => {
  expect([
    isSnapshotDue(499, 0),
    isSnapshotDue(500, 0),
    isSnapshotDue(999, 500),
    isSnapshotDue(1000, 500),
  ]).toEqual([false, true, false, true])
  const server = await servers.start()
  const database = server.core.shards.cluster
  const state = { ...createState('77'), position: 500, vars: { long: 'x'.repeat(2_400_000) } }
  await saveSnapshot(database, state, testSealer)
  for (const position of [1000, 1500, 1600, 1701])
    await saveSnapshot(database, Object.assign(state, { position }), testSealer)
  expect((await listSnapshots(database, '77')).map(({ position }) => position)).toEqual([500, 1701])
})

test('what is not there has no state', async () => {
  const server = await servers.start()
  expect(await loadStateAt(server.core.shards.cluster, '5', testSealer, 10)).toBeNull()
})
