import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../contract/json.ts'
import { useServer } from '../../../test/support/server-file.ts'

const REGISTER = '/api/worker/pool/register'
const HEARTBEAT = '/api/worker/pool/heartbeat'
const DEREGISTER = '/api/worker/pool/deregister'

const server = useServer()

const list = async (query = ''): Promise<readonly JsonObject[]> =>
  (await server().get(`/api/worker/pools${query}`)).body as unknown as JsonObject[]
const silence = (name: string, seconds: number): Promise<unknown> | undefined =>
  server().databases[0]?.query(
    `update noetl.runtime set heartbeat = now() - $2 * interval '1 second' where name = $1`,
    [name, seconds],
  )

describe('registering', () => {
  test('answers the whole row', async () => {
    const { status, body, text } = await server().post(REGISTER, {
      name: 'worker-a',
      component_type: 'worker_pool',
      status: 'ready',
      capacity: 16,
      uri: 'http://a',
      hostname: 'ignored',
      labels: { pool_name: 'shared' },
      capabilities: ['python'],
      runtime: { kind: 'rust', worker_public_key: 'k' },
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      name: 'worker-a',
      kind: 'worker_pool',
      status: 'ready',
      capacity: 16,
      uri: 'http://a',
      labels: { pool_name: 'shared' },
      capabilities: ['python'],
      runtime: { kind: 'rust', worker_public_key: 'k' },
      stale: false,
    })
    for (const key of ['heartbeat', 'created_at', 'updated_at']) expect(body).toHaveProperty(key)
    expect(text).toMatch(/"runtime_id":\d+[,}]/)
  })

  test('again keeps the id and replaces the rest', async () => {
    const first = await server().post(REGISTER, { name: 'again', capacity: 1, labels: { a: 1 } })
    const second = await server().post(REGISTER, { name: 'again', status: 'busy' })
    expect(second.body['runtime_id']).toBe(first.body['runtime_id'])
    expect(second.body).toMatchObject({ status: 'busy', capacity: null, labels: null })
  })

  test('has defaults, and other names for fields', async () => {
    expect((await server().post(REGISTER, { name: 'bare' })).body).toMatchObject({
      kind: 'worker_pool',
      status: 'active',
      uri: null,
      capacity: null,
      runtime: null,
    })
    expect(
      (
        await server().post(REGISTER, {
          name: 'api',
          kind: 'server_api',
          base_url: 'http://x',
          runtime: 'python',
        })
      ).body,
    ).toMatchObject({ kind: 'server_api', uri: 'http://x', runtime: 'python' })
  })

  test('the same name may be of several kinds', async () => {
    const pool = await server().post(REGISTER, { name: 'both' })
    const broker = await server().post(REGISTER, { name: 'both', kind: 'broker' })
    expect(pool.body['runtime_id']).not.toBe(broker.body['runtime_id'])
  })

  test.each([
    [{}],
    [{ name: '' }],
    [{ name: 5 }],
    [{ name: 'x'.repeat(600) }],
    [{ name: 'a\0' }],
    [{ name: 'a', kind: 'toaster' }],
    [{ name: 'a', kind: 'broker', component_type: 'broker' }],
    [{ name: 'a', capacity: -1 }],
    [{ name: 'a', capacity: 1e12 }],
    [{ name: 'a', capacity: '5' }],
    [{ name: 'a', status: '' }],
    [[]],
  ])('refuses %j', async (body) => {
    expect((await server().post(REGISTER, body)).status).toBe(422)
  })

  test('says which kinds there are', async () => {
    expect((await server().post(REGISTER, { name: 'a', kind: 'toaster' })).body['error']).toBe(
      'Invalid kind: toaster. Expected worker_pool, server_api, broker',
    )
  })
})

describe('a heartbeat', () => {
  test('is recorded', async () => {
    const { body: registered } = await server().post(REGISTER, { name: 'beating' })
    await silence('beating', 500)
    expect(await list('?name=beating')).toMatchObject([{ stale: true, status: 'active' }])
    for (const kind of [{}, { kind: 'worker_pool' }, { component_type: 'worker_pool' }]) {
      const { status, body } = await server().post(HEARTBEAT, { name: 'beating', ...kind })
      expect(status).toBe(200)
      expect(body).toEqual({
        status: 'ok',
        message: 'Heartbeat recorded',
        name: 'beating',
        runtime_id: registered['runtime_id'],
      })
    }
    expect(await list('?name=beating')).toMatchObject([{ stale: false }])
  })

  test('of somebody unknown is 404', async () => {
    const { status, body } = await server().post(HEARTBEAT, { name: 'nobody', kind: 'broker' })
    expect([status, body['error']]).toEqual([404, 'Runtime not found: broker nobody'])
  })

  test('that brings a registration along registers again', async () => {
    const registration = { name: 'ignored', component_type: 'worker_pool', status: 'ready', capacity: 3 }
    const { status, body } = await server().post(HEARTBEAT, { name: 'lost', registration })
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'recreated', name: 'lost' })
    expect(await list('?name=lost')).toMatchObject([{ name: 'lost', status: 'ready', capacity: 3 }])
    expect((await server().post(HEARTBEAT, { name: 'lost2', registration: { capacity: -1 } })).status).toBe(
      422,
    )
  })

  test.each([[{}], [{ name: null }], [{ name: 'a', kind: 'toaster' }], [{ name: 'a', registration: 'x' }]])(
    'refuses %j',
    async (body) => {
      expect((await server().post(HEARTBEAT, body)).status).toBe(422)
    },
  )
})

describe('deregistering', () => {
  test.each(['POST', 'DELETE'] as const)('works by %s, once', async (method) => {
    await server().post(REGISTER, { name: 'leaving' })
    const { status, body } = await server().send(method, DEREGISTER, {
      name: 'leaving',
      component_type: 'worker_pool',
    })
    expect(status).toBe(200)
    expect(body).toEqual({ status: 'ok', message: 'Runtime worker_pool leaving deregistered' })
    const again = await server().send(method, DEREGISTER, { name: 'leaving' })
    expect([again.status, again.body['error']]).toEqual([404, 'Runtime not found: worker_pool leaving'])
    expect((await server().send(method, DEREGISTER)).status).toBe(422)
  })
})

describe('the list', () => {
  test('has filters, and worker pools unless told otherwise', async () => {
    await server().post(REGISTER, { name: 'list-x1', status: 'ready' })
    await server().post(REGISTER, { name: 'list-x2', status: 'busy' })
    await server().post(REGISTER, { name: 'list-x3', kind: 'broker' })
    const names = async (query: string) => (await list(query)).map((row) => row['name'])
    expect(await names('?name=list-x')).toEqual(['list-x1', 'list-x2'])
    expect(await names('?name=list-x&status=busy')).toEqual(['list-x2'])
    expect(await names('?name=list-x&kind=broker')).toEqual(['list-x3'])
    expect(await names('?name=%25')).toEqual([])
    expect((await server().get('/api/worker/pools?kind=toaster')).status).toBe(422)
  })
})
