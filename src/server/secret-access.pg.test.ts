/** What a caller gets who may not see secrets. */
import { expect, test, vi } from 'vitest'
import type { JsonObject } from '../contract/json.ts'
import { textOf } from '../../test/support/api-server.ts'
import { single } from '../../test/support/playbooks.ts'
import { useApiServer } from '../../test/support/server-file.ts'

vi.mock(import('./secret-access.ts'), async (original) => ({
  ...(await original()),
  maySeeSecrets: () => false,
}))

const server = useApiServer()

test('credentials are listed and shown, their data is refused', async () => {
  await server().post('/api/credentials', { name: 'c', data: { password: 'hunter2' } })
  expect((await server().get('/api/credentials/c')).status).toBe(200)
  for (const path of ['/api/credentials/c?include_data=true', '/api/credentials/c/sealed?worker_id=w']) {
    const { status, body } = await server().get(path)
    expect(status).toBe(403)
    expect(body).toEqual({
      error: 'Secrets are given to workers and admins only',
      status: 403,
      code: 'forbidden',
    })
  }
})

test('keychain entries are refused, and reading them is not counted', async () => {
  const catalogId = await server().register(single('tests/refused'))
  await server().post(`/api/keychain/${catalogId}/k`, { data: { token: 'hunter2' } })
  expect((await server().get(`/api/keychain/${catalogId}/k`)).status).toBe(403)
  const { body } = await server().get(`/api/keychain/catalog/${catalogId}`)
  expect((body['entries'] as JsonObject[])[0]).toMatchObject({ access_count: 0 })
})

test('variables are shown without what is sensitive', async () => {
  await server().post('/api/vars/5', { login: { user: 'u', password: 'hunter2' } })
  expect((await server().get('/api/vars/5/login')).body).toMatchObject({
    value: { user: 'u', password: '[REDACTED]' },
  })
  expect((await server().get('/api/vars/5?include_data=true')).status).toBe(403)
})

test('results are shown without what is sensitive', async () => {
  const { body } = await server().send('PUT', '/api/result/5', {
    name: 'n',
    data: { user: 'u', password: 'hunter2' },
  })
  const answer = await server().get(`/api/result/resolve?ref=${encodeURIComponent(textOf(body['ref']))}`)
  expect(answer.body).toEqual({ user: 'u', password: '[REDACTED]' })
  expect((await server().get('/api/result/5/n')).text).not.toContain('hunter2')
})
