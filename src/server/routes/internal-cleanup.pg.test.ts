import { describe, expect, test } from 'vitest'
import { firstSnowflakeAt } from '../../lib/snowflake.ts'
import { ensurePartitions } from '../../store/partitions.ts'
import { INTERNAL_TOKEN } from '../../../test/support/api-server.ts'
import { single } from '../../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import type { Response } from '../../../test/support/server.ts'
import { useApiServer } from '../../../test/support/server-file.ts'

const server = useApiServer()

const purge = (body?: object): Promise<Response> =>
  server().send('POST', '/api/internal/cleanup/purge', body, { authorization: `Bearer ${INTERNAL_TOKEN}` })
const query = (text: string, values: readonly unknown[] = []) =>
  server().core.shards.cluster.query(text, [...values])

const MONTH = new Date('2025-02-01T00:00:00Z')

/** An execution of long ago with one event. */
const old = async (status: 'RUNNING' | 'COMPLETED', day: number): Promise<string> => {
  const id = firstSnowflakeAt(MONTH.getTime() + day * 86_400_000)
  await query(
    `insert into noetl.execution (execution_id, catalog_id, path, pool, status, version, started_at, updated_at, finished_at)
     values ($1, 1, 'old', 'shared', $2, 1, now(), now(), case when $2 <> 'RUNNING' then now() end)`,
    [id, status],
  )
  await query(
    "insert into noetl.event (execution_id, position, event_id, created_at, event_type, meta) values ($1, 1, 1, now(), 'note', '{}')",
    [id],
  )
  return id
}

describe('purging', () => {
  test('deletes ended commands and silent workers of the given age, and nothing else', async () => {
    await server().register(single('tests/purge'))
    await server().execute('tests/purge')
    await createScriptedWorker(server(), 'w1').drain()
    await server().execute('tests/purge')
    await query("update noetl.command set finished_at = finished_at - interval '8 days'")
    for (const name of ['silent', 'alive'])
      await server().post('/api/worker/pool/register', { name, kind: 'worker_pool' })
    await query("update noetl.runtime set heartbeat = now() - interval '2 hours' where name = 'silent'")
    expect((await purge({ command_retention_days: 9, runtime_stale_minutes: 0 })).body).toEqual({
      commands_purged: 0,
      runtime_purged: 0,
      events_purged: 0,
    })
    expect((await purge()).body).toEqual({ commands_purged: 1, runtime_purged: 1, events_purged: 0 })
    expect((await query('select status from noetl.command')).rows).toEqual([{ status: 'PENDING' }])
    expect((await query('select name from noetl.runtime')).rows).toEqual([{ name: 'alive' }])
  })

  test('drops whole months of events, but none that a running execution needs', async () => {
    await ensurePartitions(server().core.shards.cluster, MONTH)
    await old('COMPLETED', 3)
    await old('COMPLETED', 4)
    const running = await old('RUNNING', 40)
    const { body } = await purge({
      command_retention_days: 0,
      runtime_stale_minutes: 0,
      event_retention_days: 30,
    })
    expect(body).toMatchObject({
      events_purged: 2,
      event_partitions_dropped: ['event_2025_02', 'event_2025_04', 'event_2025_05'],
    })
    await query("update noetl.execution set status = 'FAILED', finished_at = now() where execution_id = $1", [
      running,
    ])
    expect((await purge({ event_retention_days: 30 })).body).toMatchObject({
      events_purged: 1,
      event_partitions_dropped: ['event_2025_03'],
    })
    expect((await purge({ event_retention_days: 30 })).body['event_partitions_dropped']).toBeUndefined()
    expect((await query('select 1 from noetl.event')).rows.length).toBeGreaterThan(0)
  })

  test.each([{ command_retention_days: 'x' }, { event_retention_days: 1.5 }, []])(
    'refuses %j',
    async (body) => {
      expect((await purge(body)).status).toBe(422)
    },
  )

  test('is not for everybody', async () => {
    expect((await server().post('/api/internal/cleanup/purge', {})).status).toBe(403)
  })
})
