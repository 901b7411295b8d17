import { expect, test } from 'vitest'
import type { LeasedCommand } from '../contract/command.ts'
import { historyProblems, readLog, stuckExecutions } from '../../test/support/history.ts'
import { aNote } from '../../test/support/inputs.ts'
import { chain, fanOut, single } from '../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../test/support/scripted-worker.ts'
import type { TestServer } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'

const servers = useServers()

const pair = async (playbook: string): Promise<{ a: TestServer; b: TestServer }> => {
  const a = await servers.start()
  await a.register(playbook)
  return { a, b: await servers.start() }
}

test('two servers that tell one execution at once accept every input exactly once', async () => {
  const { a, b } = await pair(fanOut('tests/two', 40))
  const id = await a.execute('tests/two')
  const database = a.core.shards.of(id)
  const workers = [createScriptedWorker(a, 'wa'), createScriptedWorker(b, 'wb')] as const
  const [start] = await workers[0].lease()
  await workers[0].complete(start as LeasedCommand)
  const held = [await workers[0].lease(20), await workers[1].lease(20)]
  const completions = workers.flatMap((worker, index) =>
    (held[index] ?? []).map((command) => worker.complete(command)),
  )
  const notes = Array.from({ length: 200 }, () => aNote())
  const remarks = notes.map(async (note, index) => {
    const { reply } = await (index % 2 === 0 ? a : b).core.tell(id, note)
    return reply.ok ? 'ok' : reply.problem.code
  })
  expect(completions).toHaveLength(40)
  expect(new Set(await Promise.all([...completions, ...remarks]))).toEqual(new Set(['ok']))
  expect(await workers[1].drain()).toBe(1)

  expect(await historyProblems(database, id)).toEqual([])
  const log = await readLog(database, id)
  const written = log.filter((event) => event.eventType === 'note').map((event) => event.eventId)
  expect(written.sort()).toEqual(notes.map((note) => String(note.eventId)).sort())
  expect(log.filter((event) => event.eventType === 'playbook.completed')).toHaveLength(1)
  expect(a.core.conflicts() + b.core.conflicts()).toBeGreaterThan(0)
  expect(await stuckExecutions(a.databases)).toEqual([])
})

test('the same events sent to both servers, over and over, are written once', async () => {
  const { a, b } = await pair(single('tests/two'))
  const id = await a.execute('tests/two')
  const notes = Array.from({ length: 50 }, () => aNote())
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all(
      [...notes, ...notes].map((note, index) => (index < notes.length ? a : b).core.tell(id, note)),
    )
    expect(answers.every(({ reply }) => reply.ok)).toBe(true)
    const written = answers.filter(({ reply }) => reply.ok && !reply.duplicate)
    expect(written).toHaveLength(round === 0 ? notes.length : 0)
  }
  expect(
    (await readLog(a.core.shards.of(id), id)).filter((event) => event.eventType === 'note'),
  ).toHaveLength(notes.length)
  expect(await historyProblems(a.core.shards.of(id), id)).toEqual([])
})

test('a server with an old state looks again before it refuses (rule 4)', async () => {
  const { a, b } = await pair(chain('tests/two', 3))
  const id = await a.execute('tests/two')
  // B remembers the execution as it is now.
  await b.core.tell(id, aNote())
  const workerA = createScriptedWorker(a, 'wa')
  const [start] = await workerA.lease()
  await workerA.complete(start as LeasedCommand)
  const [second] = await workerA.lease()
  // The command was issued and leased after B last looked; its report and its release must not be refused by B.
  const viaB = createScriptedWorker(b, 'wa')
  expect(await viaB.complete(second as LeasedCommand, { via: 'b' })).toBe('ok')
  const [third] = await createScriptedWorker(b, 'wb').lease()
  await workerA.lease()
  expect(await createScriptedWorker(a, 'wb').complete(third as LeasedCommand)).toBe('ok')
  expect((await a.get(`/api/executions/${id}`)).body['status']).toBe('COMPLETED')
  expect(await historyProblems(a.core.shards.of(id), id)).toEqual([])
})

test('an end on one server is an end on the other', async () => {
  const { a, b } = await pair(single('tests/two'))
  const id = await a.execute('tests/two')
  await b.core.tell(id, aNote())
  expect((await a.post(`/api/executions/${id}/cancel`, { reason: 'enough' })).status).toBe(200)
  expect(await b.post(`/api/executions/${id}/cancel`, {})).toMatchObject({
    status: 422,
    body: { error: 'Cannot cancel execution in CANCELLED state' },
  })
  expect((await b.post(`/api/executions/${id}/finalize`, { status: 'FAILED' })).status).toBe(409)
  expect(await createScriptedWorker(b, 'wb').lease()).toEqual([])
  expect(await historyProblems(a.core.shards.of(id), id)).toEqual([])
})

test('of many that end an execution at once exactly one does', async () => {
  const { a, b } = await pair(single('tests/two'))
  const ids = await Promise.all(Array.from({ length: 10 }, () => a.execute('tests/two')))
  for (const id of ids) {
    const answers = await Promise.all([
      a.post(`/api/executions/${id}/cancel`, {}),
      b.post(`/api/executions/${id}/cancel`, {}),
      a.post(`/api/executions/${id}/finalize`, { status: 'COMPLETED' }),
      b.post(`/api/executions/${id}/finalize`, { status: 'FAILED', error: 'x' }),
    ])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 422 || status === 409)).toHaveLength(3)
    expect(await historyProblems(a.core.shards.of(id), id)).toEqual([])
  }
})

test('a playbook registered on one server runs on the other at once', async () => {
  const { a, b } = await pair(single('tests/two'))
  await b.execute('tests/two')
  await a.register(chain('tests/two', 2))
  const id = await b.execute('tests/two')
  expect((await b.get(`/api/executions/${id}`)).body['version']).toBe(2)
})
