import { describe, expect, test } from 'vitest'
import { INTERNAL_TOKEN } from '../../../test/support/api-server.ts'
import type { Response } from '../../../test/support/server.ts'
import { useApiServer } from '../../../test/support/server-file.ts'

const server = useApiServer()

const document = (name: string, spec: string): string => `apiVersion: noetl.io/v2
kind: Subscription
metadata: {name: ${name}, path: listeners/${name}}
spec: {${spec}, dispatch: {playbook: tests/one}}
`
const hmac = (secret: string): string => `verify: {type: hmac_sha256, header: X-Signature, secret: ${secret}}`
const push = (path: string, verify: string): string =>
  `source: webhook, mode: push, ingress: {gateway_path: ${path}, ${verify}}`

const ALLOWED = { authorization: `Bearer ${INTERNAL_TOKEN}` }
const ask = (listener: string): Promise<Response> =>
  server().send('GET', `/api/internal/ingress/${listener}`, undefined, ALLOWED)

describe('a gateway that asks for a listener', () => {
  test('learns how to verify and what to start; the subscription is registered once', async () => {
    await server().post('/api/credentials', {
      name: 'hook',
      type: 'secret',
      data: { token: 'hush', other: 1 },
    })
    await server().register(document('orders', push('/events/orders', hmac('hook'))))
    const first = await ask('orders')
    expect(first).toMatchObject({
      status: 200,
      body: {
        listener: 'orders',
        catalog_path: 'listeners/orders',
        source: 'webhook',
        verify: { type: 'hmac_sha256', header: 'X-Signature', secret: 'hush' },
        dispatch: { playbook: 'tests/one', payload_from: 'message.json' },
      },
    })
    expect(first.body).not.toHaveProperty('directives')
    expect((await ask('orders')).body['subscription_id']).toBe(first.body['subscription_id'])
    expect((await server().get('/api/subscriptions')).body['subscriptions']).toMatchObject([
      { subscription_id: first.body['subscription_id'], state: 'REGISTERED' },
    ])
    const { body } = await server().send('GET', '/api/internal/secret-audit?limit=1', undefined, ALLOWED)
    expect(body['rows']).toMatchObject([{ credential: 'orders', operation: 'ingress.read' }])
  })

  test('hears of everything the document says', async () => {
    await server().register(`apiVersion: noetl.io/v2
kind: Subscription
metadata: {name: full, path: listeners/full}
spec:
  source: pubsub
  mode: push
  ingress: {gateway_path: /events/full/, verify: {type: pubsub_oidc, audience: us, service_account: them}}
  dispatch: {playbook: tests/one, payload_from: message, execution_pool: fast}
  headers: {directives: [{header: X-Pool, controls: execution_pool}]}
`)
    expect((await ask('full')).body).toMatchObject({
      verify: { type: 'pubsub_oidc', audience: 'us', service_account: 'them' },
      dispatch: { playbook: 'tests/one', payload_from: 'message', execution_pool: 'fast' },
      directives: [{ header: 'X-Pool', controls: 'execution_pool' }],
    })
  })

  test('is told when there is none, when the newest version is another, or when its secret is not there', async () => {
    expect((await ask('nobody')).status).toBe(404)
    await server().register(document('pulled', 'source: nats, mode: pull'))
    expect((await ask('pulled')).status).toBe(404)
    await server().register(document('moved', push('/old-place', hmac('hook'))))
    await server().register(document('moved', push('/new-place', hmac('hook'))))
    expect([(await ask('old-place')).status, (await ask('new-place')).status]).toEqual([404, 200])
    await server().register(document('bare', push('/bare', hmac('nowhere'))))
    expect((await ask('bare')).body).toMatchObject({ status: 404, error: "Credential 'nowhere' not found" })
    await server().post('/api/credentials', { name: 'nowhere', type: 'secret', data: { other: 1 } })
    expect((await ask('bare')).status).toBe(422)
    await server().post('/api/credentials', { name: 'nowhere', type: 'secret', data: 'plain' })
    expect((await ask('bare')).body['verify']).toMatchObject({ secret: 'plain' })
  })

  test('shows the internal token', async () => {
    expect((await server().get('/api/internal/ingress/orders')).status).toBe(403)
  })
})
