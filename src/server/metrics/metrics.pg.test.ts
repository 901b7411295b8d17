import { describe, expect, test } from 'vitest'
import { INTERNAL_TOKEN, withKeys } from '../../../test/support/api-server.ts'
import type { TestServer } from '../../../test/support/server.ts'
import { useServers } from '../../../test/support/servers.ts'
import type { Database } from '../../store/database.ts'
import { createUndecidedApp } from '../api-document/testing/undecided-app.ts'
import { declaredRoutes } from '../route.ts'
import { createMetrics, eventTypeLabel } from './metrics.ts'
import { countedRoutes } from './request-metrics.ts'

const servers = useServers()

const PLAYBOOK = `apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: counted, path: tests/counted}
workflow:
  - {step: start, tool: {kind: python, code: x}}
`

/** The value of a sample, by its name and labels as they are written. */
const sampleOf = (text: string, sample: string): number | undefined => {
  const line = text.split('\n').find((each) => each.startsWith(`${sample} `))
  return line === undefined ? undefined : Number(line.slice(sample.length + 1))
}

const scrape = async (server: TestServer): Promise<string> => {
  const { status, text, headers } = await server.get('/metrics')
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  return text
}

describe('numbers of what happened', () => {
  test('executions, events, requests and the queue are counted', async () => {
    const server = await servers.start({ metrics: createMetrics() })
    await server.register(PLAYBOOK)
    const id = await server.execute('tests/counted')
    await server.post('/api/execute', { path: 'tests/nothing' })
    const before = await scrape(server)
    expect(sampleOf(before, 'noetl_execute_outcomes_total{entry="single",outcome="new"}')).toBe(1)
    expect(sampleOf(before, 'noetl_execute_outcomes_total{entry="single",outcome="error"}')).toBe(1)
    expect(sampleOf(before, 'noetl_queue_depth{pool="shared",status="PENDING"}')).toBe(1)
    expect(sampleOf(before, 'noetl_queue_oldest_seconds{pool="shared"}')).toBeGreaterThanOrEqual(0)
    expect(sampleOf(before, 'noetl_executions_running')).toBe(1)
    expect(sampleOf(before, 'noetl_executions_without_cause')).toBe(0)
    expect(sampleOf(before, 'noetl_write_requests_total{endpoint="catalog_register",status="ok"}')).toBe(1)
    expect(sampleOf(before, 'noetl_append_group_size_count')).toBeGreaterThan(0)
    expect(sampleOf(before, 'noetl_decide_duration_seconds_count')).toBeGreaterThan(0)
    await server.post('/api/events', {
      execution_id: id,
      event_type: 'command.completed',
      step: 'start',
      payload: {},
    })
    await server.post('/api/events', { execution_id: id, event_type: 'made.up', step: 'start', payload: {} })
    await server.post('/api/events', {
      execution_id: '1',
      event_type: 'call.done',
      step: 'start',
      payload: {},
    })
    const after = await scrape(server)
    const ingested = (type: string, status: string) =>
      sampleOf(after, `noetl_events_ingested_total{event_type="${type}",status="${status}"}`)
    expect([
      ingested('command.completed', 'ok'),
      ingested('other', 'ok'),
      ingested('call.done', 'error'),
    ]).toEqual([1, 1, 1])
    expect(sampleOf(after, 'noetl_http_requests_total{method="POST",route="/api/events",status="404"}')).toBe(
      1,
    )
    expect(after).not.toContain('made.up')
  })

  test('a queue that is empty has the length 0 in every status', async () => {
    const server = await servers.start({ metrics: createMetrics() })
    const text = await scrape(server)
    for (const status of ['PENDING', 'CLAIMED', 'PARKED'])
      expect(sampleOf(text, `noetl_queue_depth{pool="shared",status="${status}"}`)).toBe(0)
    expect(sampleOf(text, 'noetl_queue_oldest_seconds{pool="shared"}')).toBe(0)
  })

  test('so is what internal routes do, and every look at a secret', async () => {
    const metrics = createMetrics()
    const server = await servers.start({ metrics })
    const face = withKeys(server, { metrics })
    const internal = (path: string, body: unknown) =>
      face.send('POST', `/api/internal/${path}`, body, { authorization: `Bearer ${INTERNAL_TOKEN}` })
    const catalogId = await server.register(PLAYBOOK)
    const id = await server.execute('tests/counted')
    await internal('projection/advance', { execution_ids: [id, '77'] })
    await internal('events/materialize', [{ execution_id: 78, step: 'a', event_type: 'note' }])
    await server.post('/api/worker/pool/register', { name: 'silent', kind: 'worker_pool' })
    await server.core.shards.cluster.query("update noetl.runtime set heartbeat = now() - interval '1 day'")
    await internal('cleanup/purge', {})
    await internal('container-callback/79/start', { state: 'failed_oom', job_name: 'job' })
    await face.post('/api/credentials', { name: 'seen', type: 't', data: { password: 'x' } })
    await face.get('/api/credentials/seen?include_data=true')
    await face.get('/api/credentials/unknown?include_data=true')
    await face.post(`/api/keychain/${catalogId}/kept`, { data: { token: 'x' }, expires_in: 60 })
    await internal('wallet/rotate-kek', {})
    const text = await scrape(server)
    expect(
      Object.fromEntries(
        [
          'noetl_projection_advanced_total',
          'noetl_events_materialized_total',
          'noetl_cleanup_rows_purged_total{table="runtime"}',
          'noetl_cleanup_rows_purged_total{table="event_partition"}',
          'noetl_container_callback_total{state="failed_oom"}',
          'noetl_container_callback_stale_total{state="failed_oom"}',
          'noetl_secret_audit_writes_total{operation="credential.read",outcome="success",status="ok"}',
          'noetl_secret_audit_writes_total{operation="credential.read",outcome="not_found",status="ok"}',
          'noetl_write_requests_total{endpoint="credentials_upsert",status="ok"}',
          'noetl_write_requests_total{endpoint="keychain_set",status="ok"}',
          'noetl_wallet_rotate_total{table="credential",status="skipped"}',
          'noetl_wallet_rotate_total{table="keychain",status="failed"}',
        ].map((sample) => [sample, sampleOf(text, sample)]),
      ),
    ).toEqual({
      noetl_projection_advanced_total: 1,
      noetl_events_materialized_total: 1,
      'noetl_cleanup_rows_purged_total{table="runtime"}': 1,
      'noetl_cleanup_rows_purged_total{table="event_partition"}': 0,
      'noetl_container_callback_total{state="failed_oom"}': 1,
      'noetl_container_callback_stale_total{state="failed_oom"}': 1,
      'noetl_secret_audit_writes_total{operation="credential.read",outcome="success",status="ok"}': 1,
      'noetl_secret_audit_writes_total{operation="credential.read",outcome="not_found",status="ok"}': 1,
      'noetl_write_requests_total{endpoint="credentials_upsert",status="ok"}': 1,
      'noetl_write_requests_total{endpoint="keychain_set",status="ok"}': 1,
      'noetl_wallet_rotate_total{table="credential",status="skipped"}': 1,
      'noetl_wallet_rotate_total{table="keychain",status="failed"}': 0,
    })
    await face.close()
  })

  test('states in memory are counted and weighed', async () => {
    const server = await servers.start({ metrics: createMetrics() })
    const cached = async () => {
      const text = await scrape(server)
      return [sampleOf(text, 'noetl_executions_cached'), sampleOf(text, 'noetl_executions_cached_bytes')]
    }
    expect(await cached()).toEqual([0, 0])
    await server.register(PLAYBOOK)
    await server.execute('tests/counted')
    expect(server.core.cachedBytes()).toBeGreaterThan(0)
    expect(await cached()).toEqual([1, server.core.cachedBytes()])
  })

  test('every sample has a help text and a type, and no name is given twice', async () => {
    const server = await servers.start({ metrics: createMetrics() })
    const text = await scrape(server)
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name]) => name)
    expect(new Set(types).size).toBe(types.length)
    expect(types.filter((name) => name?.startsWith('noetl_')).length).toBeGreaterThan(25)
    expect([...text.matchAll(/^# HELP (\S+) \S/gm)].length).toBe(types.length)
  })

  test('without metrics there is no such route', async () => {
    const server = await servers.start()
    expect((await server.get('/metrics')).status).toBe(404)
  })
})

describe('over several databases', () => {
  const sharded = useServers(2)

  test('the age of a queue is that of its oldest command, wherever it waits', async () => {
    sharded.leaveUnexamined()
    const server = await sharded.start({ metrics: createMetrics() })
    await server.register(PLAYBOOK)
    const open = (database: Database) => database.query('select 1 from noetl.command')
    for (const database of server.databases)
      while ((await open(database)).rows.length === 0) await server.execute('tests/counted')
    await server.databases[0]?.query("update noetl.command set created_at = created_at - interval '1 hour'")
    const text = await scrape(server)
    expect(sampleOf(text, 'noetl_queue_oldest_seconds{pool="shared"}')).toBeGreaterThan(3000)
  })
})

test('every route that is counted by name exists', () => {
  const routes = declaredRoutes(createUndecidedApp()).map(({ method, url }) => `${String(method)} ${url}`)
  expect(countedRoutes().filter((counted) => !routes.includes(counted))).toEqual([])
})

test.each([
  ['command.issued', 'command.issued'],
  ['anything', 'other'],
  [undefined, 'other'],
  [7, 'other'],
])('the type %j is labelled %s (rule 1)', (type, label) => {
  expect(eventTypeLabel(type)).toBe(label)
})
