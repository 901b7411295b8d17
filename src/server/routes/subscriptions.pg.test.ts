import { describe, expect, test } from 'vitest'
import { single } from '../../../test/support/playbooks.ts'
import type { TestServer } from '../../../test/support/server.ts'
import { textOf } from '../../../test/support/server.ts'
import { useServers } from '../../../test/support/servers.ts'

const servers = useServers()

const DOCUMENT = `apiVersion: noetl.io/v2
kind: Subscription
metadata: {name: orders, path: listeners/orders}
spec: {source: nats, mode: pull, dispatch: {playbook: tests/one}}
`

const start = async () => {
  const server = await servers.start()
  await server.register(DOCUMENT)
  const { body } = await server.post('/api/subscriptions/register', { path: 'listeners/orders' })
  return { server, id: textOf(body['subscription_id']), body }
}

const act = async (server: TestServer, id: string, action: string) => {
  const { status, body } = await server.post(`/api/subscriptions/${id}/${action}`, {})
  return status === 200 ? body['state'] : [status, body['error']]
}

describe('registering', () => {
  test('answers the same subscription until it is deactivated', async () => {
    const { server, id, body } = await start()
    expect(body).toMatchObject({
      path: 'listeners/orders',
      state: 'REGISTERED',
      last_event_type: 'subscription.registered',
    })
    const again = await server.post('/api/subscriptions', { path: 'listeners/orders' })
    expect(again.body['subscription_id']).toBe(id)
    await act(server, id, 'deactivate')
    const next = await server.post('/api/subscriptions/register', { path: 'listeners/orders' })
    expect(next.body['subscription_id']).not.toBe(id)
    expect(await act(server, id, 'activate')).toEqual([409, expect.stringContaining('is alive')])
    const { body: list } = await server.get('/api/subscriptions')
    expect(list['subscriptions']).toMatchObject([{ state: 'DEACTIVATED' }, { state: 'REGISTERED' }])
  })

  test('needs a document that is a subscription', async () => {
    const { server } = await start()
    await server.register(single('tests/one'))
    expect((await server.post('/api/subscriptions/register', { path: 'tests/one' })).status).toBe(422)
    expect((await server.post('/api/subscriptions/register', { path: 'none' })).status).toBe(404)
    expect((await server.post('/api/subscriptions/register', {})).status).toBe(422)
  })

  test('a document with problems is refused with all of them', async () => {
    const server = await servers.start()
    const content = DOCUMENT.replace('source: nats', 'source: mail').replace('tests/one', '')
    const { status, body } = await server.post('/api/catalog/register', { content })
    expect([status, (body['details'] as { problems: string[] }).problems.length]).toEqual([422, 2])
  })
})

describe('its life', () => {
  test('goes the allowed ways and no others', async () => {
    const { server, id } = await start()
    expect(await act(server, id, 'pause')).toEqual([422, 'Cannot pause a subscription in state REGISTERED'])
    for (const [action, state] of [
      ['activate', 'ACTIVE'],
      ['pause', 'PAUSED'],
      ['resume', 'ACTIVE'],
      ['drain', 'DRAINING'],
      ['deactivate', 'DEACTIVATED'],
      ['activate', 'ACTIVE'],
    ] as const)
      expect(await act(server, id, action)).toBe(state)
    expect((await server.get(`/api/subscriptions/${id}`)).body).toMatchObject({
      state: 'ACTIVE',
      last_event_type: 'subscription.activated',
    })
  })

  test('what is unknown is named', async () => {
    const { server, id } = await start()
    expect(await act(server, id, 'explode')).toEqual([
      422,
      expect.stringContaining("Unknown action 'explode'"),
    ])
    expect(await act(server, '12', 'pause')).toEqual([404, 'Subscription not found: 12'])
    expect((await server.get('/api/subscriptions/12')).status).toBe(404)
    expect((await server.get('/api/subscriptions/x')).status).toBe(400)
  })
})
