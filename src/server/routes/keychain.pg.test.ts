import { beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../contract/json.ts'
import { single } from '../../../test/support/playbooks.ts'
import { useApiServer } from '../../../test/support/server-file.ts'
import { createExpiryKeeper } from '../expiry-keeper.ts'

const server = useApiServer()
let catalogId: string

beforeAll(async () => {
  catalogId = await server().register(single('tests/keychain'))
})

const at = (name: string, query = ''): string => `/api/keychain/${catalogId}/${name}${query}`
const secondsFromNow = (instant: unknown): number => (Date.parse(String(instant)) - Date.now()) / 1000

describe('setting an entry', () => {
  test('answers its key and expiry, in the words of both kinds of client', async () => {
    const { status, body, text } = await server().post(at('token'), {
      data: { access_token: 'hunter2' },
      expires_in: 600,
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: 'success',
      cache_key: `token:${catalogId}:global`,
      keychain_name: 'token',
      catalog_id: catalogId,
      ttl_seconds: 600,
      auto_renew: false,
      message: 'Keychain entry cached successfully with 600s TTL',
    })
    expect(text).toContain(`"catalog_id":${catalogId}`)
    expect(secondsFromNow(body['expires_at'])).toBeCloseTo(600, -1)
    expect(text).not.toContain('hunter2')
  })

  test('stores nothing in clear, not even how to renew it', async () => {
    await server().post(at('clear'), {
      data: { access_token: 'hunter2' },
      auto_renew: true,
      renew_config: { data: { client_secret: 'hunter3' } },
    })
    const { rows } = (await server().databases[0]?.query<{ whole: string }>(
      'select k::text as whole from noetl.keychain k',
    )) ?? { rows: [] }
    expect(rows.length).toBeGreaterThan(0)
    for (const { whole } of rows) expect(whole).not.toMatch(/hunter/)
  })

  test('takes the other names of its fields', async () => {
    await server().post(at('aliased'), {
      token_data: { a: 1 },
      ttl_seconds: 30,
      credential_type: 'bearer',
      cache_type: 'secret',
    })
    expect((await server().get(at('aliased'))).body).toMatchObject({
      status: 'found',
      data: { a: 1 },
      token_data: { a: 1 },
      credential_type: 'bearer',
      cache_type: 'secret',
    })
  })

  test.each([
    ['local', 3600],
    ['global', 86_400],
    ['shared', 86_400],
    ['catalog', 86_400],
  ])('in scope %s without an expiry gets a default one', async (scope_type, seconds) => {
    const { body } = await server().post(at('default'), { data: {}, scope_type })
    expect(secondsFromNow(body['expires_at'])).toBeCloseTo(seconds, -1)
  })

  test('takes times with and without an offset, and prefers a time to seconds', async () => {
    const cases = {
      '2030-01-02T03:04:05Z': '2030-01-02T03:04:05.000Z',
      '2030-01-02T03:04:05.123456+02:00': '2030-01-02T01:04:05.123Z',
      '2030-01-02T03:04:05': '2030-01-02T03:04:05.000Z',
    }
    for (const [expires_at, stored] of Object.entries(cases)) {
      expect(
        (await server().post(at('timed'), { data: {}, expires_at, expires_in: 5 })).body['expires_at'],
      ).toBe(stored)
    }
  })

  test('for an unknown catalog entry is 404', async () => {
    const { status, body } = await server().post('/api/keychain/12345/token', { data: {} })
    expect([status, body['error']]).toEqual([404, 'Catalog entry not found: 12345'])
  })

  test.each([
    [{}],
    [{ data: {}, token_data: {} }],
    [{ data: {}, expires_in: 1, ttl_seconds: 1 }],
    [{ data: {}, scope_type: 'galactic' }],
    [{ data: {}, cache_type: 'other' }],
    [{ data: {}, expires_at: 'tomorrow' }],
    [{ data: {}, expires_at: '2026-02-30T00:00:00Z' }],
    [{ data: {}, expires_at: '0000-01-01T00:00:00Z' }],
    [{ data: {}, expires_at: '9999-12-31T23:59:59-14:00' }],
    [{ data: {}, expires_in: -1 }],
    [{ data: {}, expires_in: 1e300 }],
    [{ data: {}, expires_in: '5' }],
    [{ data: {}, execution_id: 1.5 }],
    [{ data: {}, execution_id: '99999999999999999999' }],
    [{ data: {}, auto_renew: 'yes' }],
    [{ data: {}, renew_config: 'text' }],
    [[]],
  ])('refuses %j', async (body) => {
    const answer = await server().post(at('refused'), body)
    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ status: 422, code: 'invalid' })
  })

  test('says which scope is wrong', async () => {
    expect((await server().post(at('x'), { data: {}, scope_type: 'galactic' })).body['error']).toBe(
      'Invalid scope_type: galactic',
    )
  })

  test('with a catalog id that is no number is 400', async () => {
    expect((await server().post('/api/keychain/abc/token', { data: {} })).status).toBe(400)
    expect((await server().get('/api/keychain/abc/token')).status).toBe(400)
  })
})

describe('getting an entry', () => {
  test('counts every access', async () => {
    await server().post(at('counted'), {
      data: { n: 1 },
      expires_in: 60,
      auto_renew: true,
      renew_config: { endpoint: 'https://example.org' },
    })
    await server().get(at('counted'))
    const { body, text } = await server().get(at('counted'))
    expect(body).toMatchObject({
      status: 'found',
      data: { n: 1 },
      access_count: 2,
      auto_renew: true,
      renew_config: { endpoint: 'https://example.org' },
      scope_type: 'global',
      expired: false,
    })
    expect(body['ttl_seconds']).toBeGreaterThan(50)
    expect(body).toHaveProperty('accessed_at')
    expect(text).toContain(`"catalog_id":${catalogId}`)
  })

  test('that is not there is 200 with not_found', async () => {
    const { status, body } = await server().get(at('missing'))
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'not_found', cache_key: `missing:${catalogId}:global` })
    expect(body).not.toHaveProperty('data')
  })

  test('that expired tells how to renew it but not its data, and counts no access', async () => {
    await server().post(at('expired'), {
      data: { n: 1 },
      expires_at: '2020-01-01T00:00:00Z',
      auto_renew: true,
      renew_config: { endpoint: 'e' },
    })
    const { status, body } = await server().get(at('expired'))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: 'expired',
      expired: true,
      auto_renew: true,
      renew_config: { endpoint: 'e' },
      access_count: 0,
    })
    expect(body).not.toHaveProperty('data')
    expect(body).not.toHaveProperty('token_data')
    await server().post(at('expired'), { data: { n: 2 }, expires_in: 60 })
    expect((await server().get(at('expired'))).body).toMatchObject({ status: 'found', data: { n: 2 } })
  })
})

describe('scopes', () => {
  test('keep entries of one name apart', async () => {
    const places: [JsonObject, string, string][] = [
      [{ scope_type: 'global' }, '', 'global'],
      [{ scope_type: 'local', execution_id: 11 }, '?scope_type=local&execution_id=11', '11'],
      [{ scope_type: 'local' }, '?scope_type=local', 'local'],
      [{ scope_type: 'shared', execution_id: '11' }, '?scope_type=shared&execution_id=11', 'shared:11'],
      [{ scope_type: 'shared' }, '?scope_type=shared', 'shared'],
    ]
    for (const [scope, , suffix] of places) {
      const { body } = await server().post(at('scoped'), { data: { suffix }, ...scope })
      expect(body['cache_key']).toBe(`scoped:${catalogId}:${suffix}`)
    }
    for (const [, query, suffix] of places)
      expect((await server().get(at('scoped', query))).body).toMatchObject({ data: { suffix } })
    // An unknown scope is the global one.
    expect((await server().get(at('scoped', '?scope_type=catalog'))).body).toMatchObject({
      data: { suffix: 'global' },
    })
    expect((await server().get(at('scoped', '?scope_type=local&execution_id=x'))).status).toBe(422)
  })
})

describe('listing and deleting', () => {
  test('a list shows every entry without its data', async () => {
    const other = await server().register(single('tests/listed'))
    await server().post(`/api/keychain/${other}/a`, {
      data: { s: 'hunter2' },
      expires_at: '2020-01-01T00:00:00Z',
    })
    await server().post(`/api/keychain/${other}/b`, {
      data: { s: 'hunter2' },
      scope_type: 'local',
      execution_id: 5,
    })
    await server().get(`/api/keychain/${other}/b?scope_type=local&execution_id=5`)
    const { body, text } = await server().get(`/api/keychain/catalog/${other}`)
    expect(body).toMatchObject({
      catalog_id: other,
      count: 2,
      status: 'success',
      entries: [
        { keychain_name: 'a', scope_type: 'global', expired: true, access_count: 0 },
        { keychain_name: 'b', scope_type: 'local', execution_id: '5', expired: false, access_count: 1 },
      ],
    })
    expect(text).toContain(`"catalog_id":"${other}"`)
    expect(text).not.toContain('hunter2')
    expect((await server().get('/api/keychain/catalog/1')).body).toMatchObject({ entries: [], count: 0 })
    expect((await server().get('/api/keychain/catalog/abc')).status).toBe(400)
  })

  test('deleting says whether there was one', async () => {
    await server().post(at('gone'), { data: {}, scope_type: 'local', execution_id: 5 })
    expect((await server().send('DELETE', at('gone'))).body).toMatchObject({ status: 'not_found' })
    const path = at('gone', '?scope_type=local&execution_id=5')
    expect((await server().send('DELETE', path)).body).toMatchObject({
      status: 'deleted',
      cache_key: `gone:${catalogId}:5`,
    })
    expect((await server().send('DELETE', path)).body).toMatchObject({ status: 'not_found' })
  })

  test('what expired is deleted only when nobody will renew it', async () => {
    await server().post(at('long-gone'), { data: {}, expires_at: '2020-01-01T00:00:00Z' })
    await server().post(at('just-gone'), { data: {}, expires_in: 0 })
    await createExpiryKeeper(server().core).runOnce()
    expect((await server().get(at('long-gone'))).body).toMatchObject({ status: 'not_found' })
    expect((await server().get(at('just-gone'))).body).toMatchObject({ status: 'expired' })
  })
})
