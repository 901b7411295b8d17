import { describe, expect, test, vi } from 'vitest'
import { Client } from 'pg'
import { inject } from 'vitest'
import { historyProblems, readLog, stuckExecutions } from '../../test/support/history.ts'
import { aNote } from '../../test/support/inputs.ts'
import { chain, single } from '../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../test/support/scripted-worker.ts'
import type { TestServer } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'
import type { Database } from '../store/database.ts'

const servers = useServers()

const databaseName = async (database: Database): Promise<string> =>
  (await database.query<{ name: string }>('select current_database() as name')).rows[0]?.name ?? ''

/** Another way to the server than through the database under test. */
const administer = async (work: (client: Client) => Promise<void>): Promise<void> => {
  const client = new Client({ connectionString: inject('postgresUrl') })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

const disconnectAll = (name: string): Promise<void> =>
  administer(async (client) => {
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
  })

/** Runs with every connection refused. */
const withoutDatabase = async (name: string, work: () => Promise<void>): Promise<void> => {
  await administer(
    async (client) => void (await client.query(`alter database ${name} allow_connections false`)),
  )
  await disconnectAll(name)
  try {
    await work()
  } finally {
    await administer(
      async (client) => void (await client.query(`alter database ${name} allow_connections true`)),
    )
  }
}

const wholeOrNothing = async ({ core, databases }: TestServer): Promise<readonly string[]> => {
  const database = databases[0] as Database
  const { rows } = await database.query<{ execution_id: string }>(
    'select execution_id from noetl.execution union select execution_id from noetl.event',
  )
  const problems = await Promise.all(
    rows.map((row) => historyProblems(core.shards.of(row.execution_id), row.execution_id)),
  )
  return [...problems.flat(), ...(await stuckExecutions(databases))]
}

describe('while the database cannot be reached', () => {
  test('requests say so, write nothing, and work again afterwards', async () => {
    const server = await servers.start()
    await server.register(chain('tests/outage', 2))
    const id = await server.execute('tests/outage')
    const worker = createScriptedWorker(server, 'w1')
    const [command] = await worker.lease()
    if (!command) throw new Error('nothing to lease')
    const before = await readLog(server.core.shards.of(id), id)
    await withoutDatabase(await databaseName(server.core.shards.cluster), async () => {
      const answers = await Promise.all([
        server.post('/api/execute', { path: 'tests/outage' }),
        server.post('/api/events', { execution_id: id, step: 'start', event_type: 'note' }),
        server.get('/api/executions'),
        server.get(`/api/executions/${id}`),
        server.post('/api/commands/lease', { worker_id: 'w2' }),
        server.post(`/api/executions/${id}/cancel`, {}),
        server.get('/api/health'),
      ])
      expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 503))
      expect(answers[0]?.body).toMatchObject({ status: 503, code: 'unavailable' })
      const refusals = answers.slice(0, -1)
      expect(refusals.map(({ headers }) => headers['retry-after'])).toEqual(refusals.map(() => '2'))
      // The worker keeps its result and tries again.
      await expect(worker.complete(command)).rejects.toMatchObject({ code: 'unavailable' })
    })
    expect(await readLog(server.core.shards.of(id), id)).toEqual(before)
    expect(await worker.complete(command)).toBe('ok')
    expect(await worker.drain()).toBe(1)
    expect((await server.get(`/api/executions/${id}`)).body['status']).toBe('COMPLETED')
    expect((await server.get('/api/health')).body).toMatchObject({ status: 'ok', database: 'connected' })
    expect(await wholeOrNothing(server)).toEqual([])
  })
})

describe('connections that break at any moment', () => {
  test('cost errors, never half an append', async () => {
    const server = await servers.start()
    await server.register(single('tests/outage'))
    const name = await databaseName(server.core.shards.cluster)
    const acknowledged: string[] = []
    let failures = 0
    for (let round = 0; round < 12; round += 1) {
      const starts = Array.from({ length: 30 }, () =>
        server.execute('tests/outage').then(
          (id) => acknowledged.push(id),
          () => (failures += 1),
        ),
      )
      await Promise.all([...starts, disconnectAll(name)])
    }
    // The pool may still hold connections of the last round whose end it has not heard of.
    const after = await vi.waitUntil(() => server.execute('tests/outage').catch(() => null), {
      timeout: 20_000,
    })
    expect(acknowledged.length + failures).toBe(360)
    for (const id of [...acknowledged, after])
      expect((await server.get(`/api/executions/${id}/status`)).status).toBe(200)
    expect(await wholeOrNothing(server)).toEqual([])
  })

  test('lose no acknowledged report and repeat none', async () => {
    const server = await servers.start()
    await server.register(single('tests/outage'))
    const id = await server.execute('tests/outage')
    const name = await databaseName(server.core.shards.cluster)
    const notes = Array.from({ length: 100 }, () => aNote())
    const tellUntilHeard = async (note: (typeof notes)[number]): Promise<void> => {
      for (;;) {
        const heard = await server.core.tell(id, note).then(
          ({ reply }) => reply.ok,
          () => false,
        )
        if (heard) return
      }
    }
    await Promise.all([...notes.map(tellUntilHeard), disconnectAll(name), disconnectAll(name)])
    const log = await readLog(server.core.shards.of(id), id)
    expect(
      log
        .filter((event) => event.eventType === 'note')
        .map((event) => event.eventId)
        .sort(),
    ).toEqual(notes.map((note) => String(note.eventId)).sort())
    expect(await wholeOrNothing(server)).toEqual([])
  })
})

describe('a statement the database refuses', () => {
  test('fails its request alone and leaves the execution usable', async () => {
    const server = await servers.start()
    await server.register(single('tests/outage'))
    const id = await server.execute('tests/outage')
    const database = server.core.shards.of(id)
    await database.query(
      `alter table noetl.event add constraint no_poison check (node_name is distinct from 'poison')`,
    )
    const send = (step: string) => server.post('/api/events', { execution_id: id, step, event_type: 'note' })
    expect(await send('poison')).toMatchObject({
      status: 500,
      body: { code: 'internal', error: 'Internal error; the server log has the details' },
    })
    expect((await send('fine')).status).toBe(200)
    expect(await wholeOrNothing(server)).toEqual([])
  })

  test('over and over ends in a failure that the worker can report', async () => {
    const server = await servers.start()
    await server.register(single('tests/outage'))
    const id = await server.execute('tests/outage')
    const worker = createScriptedWorker(server, 'w1')
    const [command] = await worker.lease()
    let deep: unknown = 'bottom'
    for (let level = 0; level < 60_000; level += 1) deep = [deep]
    const complaint =
      command && (await worker.complete(command, deep as never).catch((error: unknown) => error))
    expect(complaint).toMatchObject({
      name: 'ProblemError',
      code: expect.stringMatching(/invalid|internal/) as string,
    })
    expect(command && (await worker.fail(command, 'result could not be stored'))).toBe('ok')
    expect((await server.get(`/api/executions/${id}`)).body['status']).toBe('FAILED')
  })
})
