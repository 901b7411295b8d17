import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../contract/json.ts'
import { chain, single } from '../../../test/support/playbooks.ts'
import { textOf } from '../../../test/support/api-server.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import { useServer } from '../../../test/support/server-file.ts'

const server = useServer(2)

test('the version is told', async () => {
  expect((await server().get('/api/version')).body).toMatchObject({
    name: 'noetl',
    version: '0.0.0-test',
    api_version: 'noetl.io/v2',
  })
})

test('the pool status shows the connections of all shards', async () => {
  const { status, body } = await server().get('/api/pool/status')
  expect(status).toBe(200)
  expect(body).toMatchObject({
    pool_min: 0,
    pool_max: 12,
    requests_waiting: 0,
    utilization: 0,
    slots_available: 12,
    status: 'ok',
  })
  expect(Number(body['pool_size'])).toBeGreaterThanOrEqual(Number(body['pool_available']))
})

describe('placement', () => {
  test('of an execution is told for any number of shards', async () => {
    const { status, body, text } = await server().get(
      '/api/runtime/shard-info?execution_id=321078473645174784&shard_count=16',
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({
      shard_count: 16,
      source: 'noetl-server',
      hash_function: 'twox_hash::XxHash64',
      seed: 0,
      server_config: { shard_index: 0, shard_count: 2 },
    })
    expect(text).toContain('"execution_id":321078473645174784')
    expect((await server().get('/api/runtime/shard-info?execution_id=1')).body).toMatchObject({
      shard_count: 2,
    })
    expect((await server().get('/api/runtime/shard-info?execution_id=1&shard_count=1')).body).toMatchObject({
      shard_index: 0,
    })
  })

  test('agrees with where the rows are', async () => {
    await server().register(single('tests/placed'))
    const executionId = await server().execute('tests/placed')
    const { body } = await server().get(`/api/runtime/shard-info?execution_id=${executionId}`)
    const found = await server().databases[Number(body['shard_index'])]?.query(
      'select 1 from noetl.execution where execution_id = $1',
      [executionId],
    )
    expect(found?.rows).toHaveLength(1)
  })

  test.each([
    ['', "execution_id must be a 64-bit integer, got ''"],
    ['?execution_id=abc', "execution_id must be a 64-bit integer, got 'abc'"],
    [
      '?execution_id=99999999999999999999',
      "execution_id must be a 64-bit integer, got '99999999999999999999'",
    ],
    ['?execution_id=1&shard_count=0', 'shard_count must be >= 1'],
    ['?execution_id=1&shard_count=1025', 'shard_count 1025 exceeds practical maximum 1024'],
    ['?execution_id=1&shard_count=many', "shard_count must be a whole number, got 'many'"],
    ['?execution_id=1&shard_count=-1', "shard_count must be a whole number, got '-1'"],
    ['?execution_id=1&execution_id=2', "execution_id must be a 64-bit integer, got ''"],
  ])('with the query %s is 400', async (query, error) => {
    const { status, body } = await server().get(`/api/runtime/shard-info${query}`)
    expect([status, body['error']]).toEqual([400, error])
  })
})

test('usage of machine and process is told', async () => {
  const { body } = await server().get('/api/status')
  expect(body).toMatchObject({
    process: { pid: process.pid, num_threads: 0, uptime_seconds: expect.any(Number) },
  })
  for (const [part, key] of [
    ['system', 'total_memory_mb'],
    ['system', 'available_memory_mb'],
    ['process', 'memory_rss_mb'],
  ] as const) {
    expect((body[part] as JsonObject)[key]).toBeGreaterThan(0)
  }
  expect((await server().get('/api/threads')).body).toMatchObject([{ name: 'main', is_alive: true }])
})

describe('the dashboard', () => {
  test('counts executions by how they stand, from all shards', async () => {
    const before = (await server().get('/api/dashboard/stats')).body
    const worker = createScriptedWorker(server(), 'dashboard-worker')
    await worker.drain()
    await server().register(chain('tests/counted', 2))
    await server().register(chain('tests/counted', 3))
    for (let n = 0; n < 4; n += 1) await server().execute('tests/counted')
    await worker.drain()
    const [failing, cancelled] = [
      await server().execute('tests/counted'),
      await server().execute('tests/counted'),
    ]
    await server().post(`/api/executions/${cancelled}/cancel`, {})
    await server().post(`/api/executions/${failing}/finalize`, { status: 'FAILED', error: 'no' })
    await server().execute('tests/counted')
    await server().post('/api/worker/pool/register', { name: 'w1', status: 'ready' })
    await server().post('/api/worker/pool/register', { name: 'w2', status: 'ready' })
    await server().databases[0]?.query(
      `update noetl.runtime set heartbeat = now() - interval '1 hour' where name = 'w2'`,
    )
    const { status, body } = await server().get('/api/dashboard/stats')
    expect(status).toBe(200)
    const stats = {
      total_executions: Number(before['total_executions']) + 7,
      successful_executions: 5,
      failed_executions: 1,
      cancelled_executions: 1,
      running_executions: 1,
      total_playbooks: 2,
      total_workers: 1,
    }
    expect(body).toEqual({ status: 'ok', stats, ...stats, active_workflows: 1, estimated: false })
  })

  test('has widgets for the last day and the newest executions', async () => {
    const { body } = await server().get('/api/dashboard/widgets')
    const [trend, recent] = body['widgets'] as [
      { id: string; data: JsonObject[] },
      { id: string; data: JsonObject[] },
    ]
    expect([trend.id, recent.id]).toEqual(['execution-trend', 'recent-executions'])
    expect(trend.data).toHaveLength(24)
    const counted = trend.data.reduce(
      (total, point) =>
        total +
        ['running', 'completed', 'failed', 'cancelled'].reduce((sum, key) => sum + Number(point[key]), 0),
      0,
    )
    expect(counted).toBe(recent.data.length)
    expect(recent.data[0]).toMatchObject({ path: 'tests/counted', status: 'RUNNING', completed_at: null })
    const ids = recent.data.map((item) => BigInt(textOf(item['execution_id'])))
    expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? 1 : -1)))
  })
})
