/** What the doctor finds, and that it finds nothing where nothing is wrong. */
import { describe, expect, test } from 'vitest'
import { familyPlaybook } from '../../../test/support/family.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import type { TestServer } from '../../../test/support/server.ts'
import { testSealer } from '../../../test/support/server.ts'
import { useServers } from '../../../test/support/servers.ts'

const servers = useServers()
const PATH = 'tests/doctor'
const NOOP = 'tool: {kind: noop}'

const begin = async (server: TestServer): Promise<string> => {
  await server.register(
    familyPlaybook(
      PATH,
      `\n  - {step: start, ${NOOP}, next: [a, b]}\n  - {step: a, ${NOOP}}\n  - {step: b, ${NOOP}}`,
    ),
  )
  return server.execute(PATH)
}

const change = (server: TestServer, id: string, sql: string, more: readonly unknown[] = []) =>
  server.core.shards.of(id).query(sql, [id, ...more])

describe('the doctor', () => {
  test('finds nothing wrong with executions that run, ended, failed or were retried', async () => {
    const server = await servers.start()
    const worker = createScriptedWorker(server, 'w1')
    const id = await begin(server)
    const [first] = await worker.lease()
    if (first) await worker.fail(first, 'no')
    await server.post(`/api/executions/${id}/retry`, {})
    await worker.drain()
    await server.execute(PATH)
    await server.post(`/api/executions/${id}/rerun`, { from: { step: 'a' } })
    await worker.lease()
    expect((await server.get('/api/doctor')).body).toEqual({
      healthy: true,
      checked: 3,
      events: expect.any(Number),
      snapshots: 0,
      timers: 0,
      results: 0,
      idle_timers: 0,
      unreferenced_results: 0,
      unreferenced_bytes: 0,
      next: null,
      differences: [],
    })
  })

  test('goes through all executions in pages', async () => {
    const server = await servers.start()
    const ids = [await begin(server), await server.execute(PATH), await server.execute(PATH)]
    const first = await server.get('/api/doctor?limit=2')
    expect(first.body).toMatchObject({ checked: 2, next: ids[1] })
    const second = await server.get(`/api/doctor?limit=2&after=${ids[1]}`)
    expect(second.body).toMatchObject({ checked: 1, next: null })
  })

  test('finds rows, commands and snapshots that are not what the log says', async () => {
    servers.leaveUnexamined()
    const server = await servers.start()
    const id = await begin(server)
    await change(
      server,
      id,
      `update noetl.execution set failed_steps = 3, current_step = 'b', playbook_version = 9 where execution_id = $1`,
    )
    await change(server, id, `update noetl.command set status = 'COMPLETED' where execution_id = $1`)
    await change(
      server,
      id,
      'insert into noetl.snapshot (execution_id, position, state) values ($1, 2, $2), ($1, 1, $3)',
      [
        testSealer.seal(
          '{"format":3,"executionId":"1","steps":[],"commands":[],"running":[],"deadTargets":[]}',
        ),
        Buffer.from('damaged'),
      ],
    )
    const { body } = await server.get(`/api/doctor?execution_id=${id}`)
    expect(body).toMatchObject({
      healthy: false,
      snapshots: 2,
      differences: [
        { kind: 'snapshot', message: expect.stringContaining('the snapshot at position 1 cannot be read') },
        { kind: 'snapshot', message: 'the snapshot at position 2 is not the fold up to there' },
        { kind: 'row', message: 'the column failed_steps is not what the log says', stored: 3, folded: 0 },
        {
          kind: 'row',
          message: 'the column current_step is not what the log says',
          stored: 'b',
          folded: 'start',
        },
        {
          kind: 'row',
          message: 'the column playbook_version is not what the log says',
          stored: 9,
          folded: 1,
        },
        { kind: 'commands', stored: null, folded: 'open' },
      ],
    })
    const all = await server.get('/api/doctor')
    expect(all.text).toContain('"kind":"no_cause"')
  })

  test('finds a command that ended and is still in the queue', async () => {
    servers.leaveUnexamined()
    const server = await servers.start()
    const id = await begin(server)
    await createScriptedWorker(server, 'w1').drain()
    await change(
      server,
      id,
      `update noetl.command set status = 'PENDING', finished_at = null where execution_id = $1 and step = 'a'`,
    )
    expect((await server.get(`/api/doctor?execution_id=${id}`)).body).toMatchObject({
      healthy: false,
      differences: [{ kind: 'commands', stored: 'PENDING', folded: null }],
    })
  })

  test('knows no execution that does not exist', async () => {
    const server = await servers.start()
    expect(await server.get('/api/doctor?execution_id=5')).toMatchObject({ status: 404 })
  })
})
