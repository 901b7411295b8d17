/**
 * Who gets secrets: workers and admins who ask for them. The sweep goes through every route there is, so that a new one
 * that gives a secret to somebody else fails here.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Role } from '../../contract/access.ts'
import type { AccessFace } from '../../../test/support/access-server.ts'
import { tokensOf, withAccess } from '../../../test/support/access-server.ts'
import { textOf } from '../../../test/support/api-server.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import { useServer } from '../../../test/support/server-file.ts'
import { declaredRoutes } from '../route.ts'

const SECRET = 'hunter2-is-the-secret'
const PLAYBOOK = `
apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: secretive, path: tests/secretive }
workload: { password: none }
workflow:
  - step: start
    tool: { kind: python, code: result = 1, input: { password: '{{ workload.password }}' } }
`

const server = useServer()
let face: AccessFace
let tokens: Readonly<Record<Role, string>>
let places: Readonly<Record<string, string>>

beforeAll(async () => {
  face = withAccess(server())
  tokens = await tokensOf(server())
  const admin = (method: string, path: string, body?: object) =>
    face.call(tokens.admin, method, path, { body })
  const { body: registered } = await admin('POST', '/api/catalog/register', { content: PLAYBOOK })
  const catalogId = textOf(registered['catalog_id'])
  const start = async (): Promise<string> => {
    const payload = { password: SECRET }
    return textOf(
      (await admin('POST', '/api/execute', { path: 'tests/secretive', payload })).body['execution_id'],
    )
  }
  const executionId = await start()
  const worker = createScriptedWorker(server(), 'w1')
  const [first] = await worker.lease()
  if (!first) throw new Error('nothing was issued')
  await worker.complete(first, { user: 'u', access_token: SECRET })
  await start()
  const [open] = await worker.lease()
  await admin('POST', '/api/credentials', { name: 'c1', type: 'basic', data: { password: SECRET } })
  await admin('POST', `/api/keychain/${catalogId}/k1`, { data: { token: SECRET } })
  await admin('POST', `/api/vars/${executionId}`, { v1: { password: SECRET } })
  const { body: stored } = await admin('PUT', `/api/result/${executionId}`, {
    name: 'start',
    source_step: 'start',
    data: { password: SECRET },
  })
  places = {
    execution_id: executionId,
    catalog_id: catalogId,
    event_id: open?.eventId ?? '',
    identifier: 'c1',
    credential: 'c1',
    keychain_name: 'k1',
    var_name: 'v1',
    step_name: 'start',
    step: 'start',
    path: 'tests/secretive',
    ref: textOf(stored['ref']),
    worker_id: 'w1',
  }
})
afterAll(() => face.close())

const EVERYTHING = [
  'include_data',
  'include_secrets',
  'include_sensitive',
  'reveal',
  'resolve',
  'raw',
  'full',
]

const addressOf = (url: string): string => {
  const path = url
    .replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(places[name] ?? '1'))
    .replaceAll('*', 'tests/secretive')
  const query = new URLSearchParams([
    ...Object.entries(places).filter(([name]) => name !== 'event_id'),
    ...EVERYTHING.map((name) => [name, 'true'] as [string, string]),
  ])
  return `${path}?${query.toString()}`
}

/** Streams that do not end by themselves. */
const isEndless = (url: string): boolean => url.endsWith('/stream') && !url.includes(':execution_id')

describe('viewers and operators', () => {
  test.each(['viewer', 'operator'] as const)(
    '%s: no route gives a secret, however it is asked',
    async (role) => {
      const routes = declaredRoutes(face.app).filter(
        ({ method, url, access }) =>
          !isEndless(url) && (method === 'GET' || (method === 'POST' && access === 'viewer')),
      )
      expect(routes.length).toBeGreaterThan(25)
      for (const { method, url } of routes) {
        for (const address of [addressOf(url), addressOf(url).split('?')[0] ?? '']) {
          const body = method === 'POST' ? { body: places } : {}
          const answer = await face.call(tokens[role], method, address, body)
          expect(answer.text, `${role}: ${method} ${address}`).not.toContain(SECRET)
          expect(answer.status, `${role}: ${method} ${address}: ${answer.text}`).not.toBe(500)
        }
      }
    },
  )

  test.each([
    '/api/credentials/c1?include_data=true',
    '/api/credentials/c1/sealed?worker_id=w1',
    '/api/keychain/:catalog_id/k1',
    '/api/vars/:execution_id?include_data=true',
    '/api/commands/:event_id',
  ])('are refused at %s', async (url) => {
    const path = url.replaceAll(/:(\w+)/g, (_, name: string) => places[name] ?? '')
    for (const role of ['viewer', 'operator'] as const)
      expect((await face.call(tokens[role], 'GET', path)).status).toBe(403)
  })

  test('see everything around secrets', async () => {
    const read = async (path: string) => (await face.call(tokens.viewer, 'GET', path)).body
    const { execution_id: id, ref } = places
    expect(await read(`/api/vars/${id}/v1`)).toMatchObject({ value: { password: '[REDACTED]' } })
    expect(await read(`/api/result/resolve?ref=${encodeURIComponent(ref ?? '')}`)).toEqual({
      password: '[REDACTED]',
    })
    const { data } = await read(`/api/executions/${id}/result?include_secrets=true`)
    expect(data).toEqual({ user: 'u', access_token: '[REDACTED]' })
  })
})

describe('workers and admins', () => {
  test.each(['worker', 'admin'] as const)('%s: get the secrets they ask for', async (role) => {
    const { execution_id: id, catalog_id: catalogId, event_id: eventId, ref = '' } = places
    for (const path of [
      '/api/credentials/c1?include_data=true',
      `/api/keychain/${catalogId}/k1`,
      `/api/vars/${id}?include_data=true`,
      `/api/vars/${id}/v1`,
      `/api/commands/${eventId}`,
      `/api/executions/${id}/result?include_secrets=true`,
      `/api/result/resolve?ref=${encodeURIComponent(ref)}`,
    ])
      expect((await face.call(tokens[role], 'GET', path)).text, path).toContain(SECRET)
  })

  test('get none where they do not ask', async () => {
    const { execution_id: id } = places
    for (const path of [
      '/api/credentials/c1',
      `/api/vars/${id}`,
      `/api/executions/${id}/result`,
      `/api/executions/${id}`,
      `/api/executions/${id}/events`,
      `/api/executions/${id}/stream`,
    ])
      expect((await face.call(tokens.admin, 'GET', path)).text, path).not.toContain(SECRET)
  })
})

test('the log of the server and the record of what was done hold no secret', async () => {
  const { rows } = await server().core.shards.cluster.query<{ text: string }>(
    'select a::text as text from noetl.audit a',
  )
  expect(rows.length).toBeGreaterThan(10)
  expect(rows.map(({ text }) => text).join('\n')).not.toContain(SECRET)
  const secrets = Object.values(tokens).map((token) => token.slice(-43))
  for (const { text } of rows) for (const secret of secrets) expect(text).not.toContain(secret)
})
