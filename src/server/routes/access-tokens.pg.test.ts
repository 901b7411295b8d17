import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TokenAnswer } from '../../contract/answers-access.ts'
import { digestOf, parseToken } from '../../lib/access-token.ts'
import { textOf } from '../../../test/support/api-server.ts'
import { useServer } from '../../../test/support/server-file.ts'

/** Answers of this server are held against the API document; it is open and stays so. */
const server = useServer()

const create = async (body: object) => server().post('/api/tokens', body)
const list = async (query = ''): Promise<readonly TokenAnswer[]> =>
  (await server().get(`/api/tokens${query}`)).body['tokens'] as unknown as TokenAnswer[]

describe('creating', () => {
  test('shows the token once and keeps only a digest of its secret', async () => {
    const { status, body } = await create({ name: ' ci ', role: 'operator', expires_in: 3600 })
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: 'ci', role: 'operator', status: 'active', created_by: 'anonymous' })
    const token = textOf(body['token'])
    const { id, secret } = parseToken(token) ?? { id: '', secret: '' }
    expect(id).toBe(body['id'])
    const { rows } = await server().core.shards.cluster.query<{
      secret_digest: Buffer
      all: string
      hours: number
    }>(
      `select secret_digest, t::text as all, extract(epoch from expires_at - created_at)::float / 3600 as hours
       from noetl.access_token t where id = $1`,
      [id],
    )
    expect(rows[0]?.secret_digest).toEqual(digestOf(secret))
    expect(rows[0]?.all).not.toContain(secret)
    expect(rows[0]?.hours).toBe(1)
    expect((await server().get('/api/tokens')).text).not.toContain(secret)
  })

  test('a token without an expiry does not expire; names may be used twice', async () => {
    await create({ name: 'twin', role: 'viewer' })
    expect((await create({ name: 'twin', role: 'viewer' })).body).toMatchObject({ expires_at: null })
    expect((await list()).filter(({ name }) => name === 'twin')).toHaveLength(2)
  })

  test.each([
    [{ role: 'viewer' }, 'name'],
    [{ name: '', role: 'viewer' }, 'must not be empty'],
    [{ name: 'a/b', role: 'viewer' }, 'slashes'],
    [{ name: 'a\nb', role: 'viewer' }, 'control characters'],
    [{ name: 'x'.repeat(101), role: 'viewer' }, '100 characters'],
    [{ name: 'Anonymous', role: 'viewer' }, 'uses itself'],
    [{ name: 'a', role: 'root' }, 'viewer, operator, admin, worker'],
    [{ name: 'a' }, 'viewer, operator, admin, worker'],
    [{ name: 'a', role: 'viewer', expires_in: 0 }, 'at least a second'],
    [{ name: 'a', role: 'viewer', expires_in: 1.5 }, 'whole number'],
    [{ name: 'a', role: 'viewer', expires_in: 1e12 }, 'ten years'],
    [{ name: 'a', role: 'viewer', expires_in: '90d' }, 'number of seconds'],
  ])('%j is refused with what is wrong', async (body, words) => {
    const answer = await create(body)
    expect(answer.status).toBe(422)
    expect(answer.body['error']).toContain(words)
  })
})

describe('revoking', () => {
  let id: string
  beforeAll(async () => {
    id = textOf((await create({ name: 'gone', role: 'admin' })).body['id'])
  })

  test('ends a token; again it changes nothing', async () => {
    const first = await server().send('DELETE', `/api/tokens/${id}`)
    expect(first.body).toMatchObject({ status: 'revoked', revoked_by: 'anonymous', id })
    const second = await server().send('DELETE', `/api/tokens/${id}`)
    expect(second.body['revoked_at']).toBe(first.body['revoked_at'])
  })

  test('takes it off the list, unless revoked ones are asked for', async () => {
    expect((await list()).map((token) => token.id)).not.toContain(id)
    expect((await list('?include_revoked=true')).find((token) => token.id === id)?.status).toBe('revoked')
  })

  test.each([
    ['999999999', 404],
    ['abc', 400],
  ])('of %s answers %i', async (unknown, status) => {
    expect((await server().send('DELETE', `/api/tokens/${unknown}`)).status).toBe(status)
  })
})

test('an expired token is listed as such', async () => {
  const { body } = await create({ name: 'old', role: 'viewer', expires_in: 1 })
  await server().core.shards.cluster.query(
    "update noetl.access_token set expires_at = now() - interval '1 s' where id = $1",
    [body['id']],
  )
  expect((await list()).find(({ id }) => id === body['id'])?.status).toBe('expired')
})

afterAll(async () => {
  await server().core.shards.cluster.query('truncate noetl.access_token')
})
