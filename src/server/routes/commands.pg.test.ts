import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../contract/json.ts'
import { createMemoryDispatcher } from '../../dispatch/memory.ts'
import { loopOver, single } from '../../../test/support/playbooks.ts'
import type { TestServer } from '../../../test/support/server.ts'
import { useServers } from '../../../test/support/servers.ts'

const servers = useServers()

const stage = async (
  playbook = single('tests/commands'),
): Promise<{ server: TestServer; id: string; eventId: string }> => {
  const server = await servers.start()
  await server.register(playbook)
  const id = await server.execute('tests/commands', { password: 'hunter2' })
  const { rows } = await server.core.shards
    .of(id)
    .query<{ event_id: string }>('select event_id from noetl.command order by event_id')
  return { server, id, eventId: rows[0]?.event_id ?? '' }
}

const lease = async (server: TestServer, body: object): Promise<JsonObject[]> =>
  (await server.post('/api/commands/lease', { worker_id: 'w1', ...body })).body[
    'commands'
  ] as unknown as JsonObject[]

describe('leasing over HTTP', () => {
  test('gives everything a worker needs, with exact ids', async () => {
    const { server, id, eventId } = await stage()
    const answer = await server.post('/api/commands/lease', { worker_id: 'w1' })
    expect(answer.body).toEqual({
      commands: [
        {
          status: 'ok',
          event_id: eventId,
          execution_id: id,
          node_id: 'start',
          node_name: 'start',
          action: 'python',
          context: { tool_config: { kind: 'python', code: 'result = 1' }, args: {}, render_context: {} },
          meta: expect.objectContaining({
            command_id: `${id}:start:${eventId}`,
            attempt: 1,
            max_attempts: 3,
          }) as object,
          command_id: `${id}:start:${eventId}`,
          catalog_id: expect.stringMatching(/^\d+$/) as string,
          attempt: 1,
          lease_token: '1',
          lease_until: expect.stringMatching(/Z$/) as string,
          lease_seconds: 60,
        },
      ],
    })
    expect(answer.text).toContain(`"event_id":${eventId},"execution_id":${id},`)
  })

  test('gives at most what was asked for, of that pool', async () => {
    const { server } = await stage(loopOver('tests/commands', 5))
    expect(await lease(server, { pool: 'gpu', max: 5 })).toEqual([])
    expect(await lease(server, {})).toHaveLength(1)
    expect(await lease(server, { max: 3 })).toHaveLength(3)
    expect(await lease(server, { max: 100 })).toHaveLength(1)
    expect(await lease(server, { max: 100 })).toEqual([])
  })

  test.each([
    { worker_id: '' },
    { worker_id: 5 },
    { max: 0 },
    { max: 1001 },
    { max: 'all' },
    { max: 1.5 },
    { wait_ms: -1 },
    { wait_ms: 60_001 },
    { pool: '' },
    { pool: null },
  ])('refuses %j', async (body) => {
    const { server } = await stage()
    expect(await server.post('/api/commands/lease', { worker_id: 'w1', ...body })).toMatchObject({
      status: 422,
      body: { code: 'invalid' },
    })
    expect(await lease(server, {})).toHaveLength(1)
  })

  test('ends a long poll when the server stops, at once when it came afterwards', async () => {
    const begun = Promise.withResolvers<void>()
    const dispatcher = createMemoryDispatcher()
    const server = await servers.start({
      dispatcher: {
        ...dispatcher,
        wait: (...given) => {
          begun.resolve()
          return dispatcher.wait(...given)
        },
      },
    })
    const waiting = lease(server, { wait_ms: 60_000 })
    await begun.promise
    server.stopStreams()
    expect(await waiting).toEqual([])
    expect(await lease(server, { wait_ms: 60_000 })).toEqual([])
  })
})

describe('one command', () => {
  test('is shown by the id of its event', async () => {
    const { server, id, eventId } = await stage()
    const { body, text } = await server.get(`/api/commands/${eventId}`)
    expect(body).toMatchObject({
      execution_id: id,
      node_id: 'start',
      node_name: 'start',
      action: 'python',
      context: { tool_config: { kind: 'python' } },
      meta: { attempt: 1 },
    })
    expect(text).toContain(`"execution_id":${id},`)
    expect(await server.get('/api/commands/5')).toMatchObject({
      status: 404,
      body: { error: 'command.issued event not found: 5' },
    })
    expect((await server.get('/api/commands/abc')).status).toBe(400)
  })

  test('is claimed once, by its holder again and again', async () => {
    const { server, eventId } = await stage()
    const claim = (worker_id: unknown) => server.post(`/api/commands/${eventId}/claim`, { worker_id })
    const first = await claim('w1')
    expect(first).toMatchObject({
      status: 200,
      body: {
        status: 'ok',
        event_id: eventId,
        lease_token: '1',
        attempt: 1,
        lease_until: expect.any(String) as string,
      },
    })
    expect((await claim('w1')).body).toEqual(first.body)
    expect(await claim('w2')).toMatchObject({
      status: 409,
      body: { error: 'Command already claimed by w1', code: 'conflict' },
    })
    for (const bad of ['', 5, undefined]) expect((await claim(bad)).status).toBe(422)
    expect(await server.post('/api/commands/5/claim', { worker_id: 'w1' })).toMatchObject({ status: 404 })
  })

  test('that is over cannot be claimed', async () => {
    const { server, id, eventId } = await stage()
    await server.post(`/api/executions/${id}/cancel`, {})
    expect(await server.post(`/api/commands/${eventId}/claim`, { worker_id: 'w1' })).toMatchObject({
      status: 409,
      body: { error: 'Execution has been cancelled' },
    })
  })
})

describe('heartbeats and handing back', () => {
  test('of one command', async () => {
    const { server, id, eventId } = await stage()
    await lease(server, {})
    const beat = (body: object, at = eventId) =>
      server.post(`/api/commands/${at}/heartbeat`, { worker_id: 'w1', lease_token: '1', ...body })
    expect((await beat({})).body).toEqual({ status: 'ok' })
    expect((await beat({ lease_token: 1 })).body).toEqual({ status: 'ok' })
    for (const lost of [
      { lease_token: '2' },
      { lease_token: 'x' },
      { lease_token: 1.5 },
      { worker_id: 'w2' },
    ])
      expect((await beat(lost)).body).toEqual({ status: 'lost' })
    expect((await beat({}, '5')).status).toBe(404)
    for (const bad of [{ lease_token: null }, { lease_token: {} }, { worker_id: '' }])
      expect((await beat(bad)).status).toBe(422)
    await server.post(`/api/executions/${id}/cancel`, {})
    expect((await beat({})).body).toEqual({ status: 'cancelled' })
  })

  test('of many commands, in their order', async () => {
    const { server } = await stage(loopOver('tests/commands', 3))
    const keys = (await lease(server, { max: 3 })).map(({ execution_id, event_id, lease_token }) => ({
      execution_id,
      event_id,
      lease_token,
    }))
    const leases = [
      keys[2],
      { ...keys[0], lease_token: '9' },
      keys[1],
      { execution_id: '1', event_id: '1', lease_token: '1' },
    ]
    expect((await server.post('/api/commands/heartbeat', { worker_id: 'w1', leases })).body).toEqual({
      statuses: ['ok', 'lost', 'ok', 'lost'],
    })
    expect((await server.post('/api/commands/heartbeat', { worker_id: 'w1', leases: [] })).body).toEqual({
      statuses: [],
    })
    for (const bad of [{ leases: 'x' }, { leases: [{}] }, { leases: [{ ...keys[0], event_id: 'x' }] }, {}]) {
      expect((await server.post('/api/commands/heartbeat', { worker_id: 'w1', ...bad })).status).toBe(422)
    }
  })

  test('puts a command back into the queue, as often as it is said', async () => {
    const { server } = await stage()
    const [command] = await lease(server, {})
    const leases = [
      {
        execution_id: command?.['execution_id'],
        event_id: command?.['event_id'],
        lease_token: command?.['lease_token'],
      },
    ]
    for (let round = 0; round < 2; round += 1)
      expect((await server.post('/api/commands/release', { worker_id: 'w1', leases })).body).toEqual({
        status: 'ok',
      })
    expect(await lease(server, { worker_id: 'w2' })).toMatchObject([{ attempt: 1, lease_token: '2' }])
    expect((await server.post('/api/commands/release', { worker_id: 'w1', leases })).status).toBe(200)
    expect(
      (
        await server.post('/api/commands/release', {
          worker_id: 'w1',
          leases: [{ execution_id: '7', event_id: '7', lease_token: '1' }],
        })
      ).status,
    ).toBe(200)
    expect(await lease(server, { worker_id: 'w3' })).toEqual([])
  })
})
