import { createDecipheriv, createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../contract/json.ts'
import { withKeys, textOf } from '../../../test/support/api-server.ts'
import { single } from '../../../test/support/playbooks.ts'
import { useApiServer } from '../../../test/support/server-file.ts'

const server = useApiServer()

const PG = {
  name: 'pg_main',
  type: 'postgres',
  data: { db_host: 'db', db_password: 'hunter2' },
  tags: ['prod'],
  description: 'Main database',
  meta: { region: 'eu' },
}

const rows = async (sql: string, values: unknown[] = []): Promise<readonly JsonObject[]> => {
  const [db] = server().databases
  return (await db?.query<JsonObject>(sql, values))?.rows ?? []
}

describe('writing a credential', () => {
  test('answers it without its data', async () => {
    const { status, body, text } = await server().post('/api/credentials', PG)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      name: 'pg_main',
      type: 'postgres',
      tags: ['prod'],
      description: 'Main database',
      meta: { region: 'eu' },
    })
    expect(body).toHaveProperty('created_at')
    expect(body).toHaveProperty('updated_at')
    expect(typeof body['id']).toBe('string')
    expect(body).not.toHaveProperty('data')
    expect(text).not.toContain('hunter2')
  })

  test('stores an envelope and nothing in clear', async () => {
    const [row] = await rows(
      'select c::text as whole, data_encrypted from noetl.credential c where name = $1',
      ['pg_main'],
    )
    expect(textOf(row?.['whole'])).not.toContain('hunter2')
    expect(JSON.parse(textOf(row?.['data_encrypted']))).toMatchObject({
      v: 1,
      alg: 'AES-256-GCM',
      dek: { p: 'local', kid: 'env:NOETL_ENCRYPTION_KEY', kv: 'v1' },
    })
  })

  test('again replaces it and keeps its id', async () => {
    const first = await server().post('/api/credentials', {
      name: 'twice',
      type: 'a',
      data: { n: 1 },
      description: 'old',
    })
    const second = await server().post('/api/credentials', { name: 'twice', type: 'b', data: { n: 2 } })
    expect(second.body['id']).toBe(first.body['id'])
    expect(second.body).toMatchObject({ type: 'b' })
    expect(second.body).not.toHaveProperty('description')
    expect((await server().get('/api/credentials/twice?include_data=true')).body).toMatchObject({
      data: { n: 2 },
    })
  })

  test('by many at once makes one', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        server().post('/api/credentials', { name: 'raced', type: 't', data: { n } }),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1)
    expect(await rows('select 1 from noetl.credential where name = $1', ['raced'])).toHaveLength(1)
  })

  test('takes credential_type for type and tags as one text', async () => {
    const { body } = await server().post('/api/credentials', {
      name: 'aliased',
      credential_type: 'bearer',
      data: {},
      tags: 'a, b,,c ',
    })
    expect(body).toMatchObject({ type: 'bearer', tags: ['a', 'b', 'c'] })
  })

  test('without a type is generic', async () => {
    expect(
      (await server().post('/api/credentials', { name: 'untyped', data: 'just text' })).body,
    ).toMatchObject({ type: 'generic' })
    expect((await server().get('/api/credentials/untyped?include_data=true')).body).toMatchObject({
      data: 'just text',
    })
  })

  test.each([
    ['no name', { type: 't', data: {} }],
    ['an empty name', { name: '  ', type: 't', data: {} }],
    ['a name that is too long', { name: 'x'.repeat(513), type: 't', data: {} }],
    ['a name with a NUL', { name: 'a\0b', type: 't', data: {} }],
    ['no data', { name: 'a', type: 't' }],
    ['a number for a type', { name: 'a', type: 1, data: {} }],
    ['tags of numbers', { name: 'a', type: 't', data: {}, tags: [1] }],
    ['meta that is a list', { name: 'a', type: 't', data: {}, meta: [] }],
    ['both spellings of the type', { name: 'a', type: 't', credential_type: 't', data: {} }],
    ['a list', []],
    ['text', '"text"'],
  ])('with %s is refused', async (_, body) => {
    const answer = await server().post('/api/credentials', body)
    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ status: 422, code: 'invalid' })
    expect(typeof answer.body['error']).toBe('string')
  })

  test('that does not fit its schema is refused without showing a value', async () => {
    const schema = {
      fields: ['host', 'port', 'password'],
      required: ['host', 'password'],
      types: { port: 'int' },
    }
    const { status, body, text } = await server().post('/api/credentials', {
      name: 's',
      type: 't',
      schema,
      data: { port: 'hunter2', user: 'u', password: null },
    })
    expect(status).toBe(400)
    expect(body['error']).toBe(
      "Credential 's' does not fit its schema: field 'host' is required; field 'password' is required; field 'user' is not in the schema; field 'port' must be of type integer",
    )
    expect(text).not.toContain('hunter2')
    expect(
      (
        await server().post('/api/credentials', {
          name: 's',
          type: 't',
          schema,
          data: { host: 'h', port: 5432, password: 'p' },
        })
      ).status,
    ).toBe(200)
  })
})

describe('listing credentials', () => {
  test('shows no data, and names the filter when there is one', async () => {
    await server().post('/api/credentials', PG)
    const all = await server().get('/api/credentials')
    expect(all.body).not.toHaveProperty('filter')
    expect(all.text).not.toContain('hunter2')
    expect((all.body['items'] as JsonObject[]).every((item) => !('data' in item))).toBe(true)
    const some = await server().get('/api/credentials?type=postgres&q=MAIN')
    expect(some.body['filter']).toEqual({ type: 'postgres', q: 'MAIN' })
    expect((some.body['items'] as JsonObject[]).map((item) => item['name'])).toEqual(['pg_main'])
  })

  test('looks into descriptions and takes no wildcards', async () => {
    expect((await server().get('/api/credentials?q=database')).body['items']).toHaveLength(1)
    expect((await server().get('/api/credentials?q=%25')).body['items']).toHaveLength(0)
    expect((await server().get('/api/credentials?type=nothing')).body['items']).toEqual([])
  })
})

describe('reading a credential', () => {
  test('gives its data only when it is asked for', async () => {
    const { body: written } = await server().post('/api/credentials', PG)
    for (const identifier of ['pg_main', textOf(written['id'])]) {
      const bare = await server().get(`/api/credentials/${identifier}`)
      expect(bare.body).toMatchObject({ id: written['id'], name: 'pg_main' })
      expect(bare.body).not.toHaveProperty('data')
      const whole = await server().get(`/api/credentials/${identifier}?include_data=true`)
      expect(whole.body).toMatchObject({ data: PG.data })
    }
    for (const yes of ['1', 'True', 'yes'])
      expect((await server().get(`/api/credentials/pg_main?include_data=${yes}`)).body).toHaveProperty('data')
    expect((await server().get('/api/credentials/pg_main?include_data=false')).body).not.toHaveProperty(
      'data',
    )
  })

  test('prefers the id over a name that is a number', async () => {
    const { body: first } = await server().post('/api/credentials', { name: 'numbered', data: 'by id' })
    await server().post('/api/credentials', { name: textOf(first['id']), data: 'by name' })
    await server().post('/api/credentials', { name: '42', data: 'named 42' })
    expect(
      (await server().get(`/api/credentials/${textOf(first['id'])}?include_data=true`)).body,
    ).toMatchObject({ data: 'by id' })
    expect((await server().get('/api/credentials/42?include_data=true')).body).toMatchObject({
      data: 'named 42',
    })
  })

  test('finds names of any length that can be stored, with any character', async () => {
    for (const name of ['ü'.repeat(512), 'team a/pg?#%']) {
      expect((await server().post('/api/credentials', { name, data: 1 })).status).toBe(200)
      expect(
        (await server().get(`/api/credentials/${encodeURIComponent(name)}?include_data=true`)).body,
      ).toMatchObject({ name, data: 1 })
    }
  })

  test('keeps the digits of large numbers and odd characters', async () => {
    await server().send(
      'POST',
      '/api/credentials',
      '{"name":"exact","data":{"big":12345678901234567890,"text":"a\\u0000b","surrogate":"\\ud800"}}',
    )
    expect((await server().get('/api/credentials/exact?include_data=true')).body['data']).toMatchObject({
      big: '12345678901234567890',
      text: 'a\0b',
    })
  })

  test.each(['nobody', '1', '99999999999999999999999', '%20'])(
    'named %s, who does not exist, is 404',
    async (identifier) => {
      for (const query of ['', '?include_data=true', '?include_data=true&execution_id=1']) {
        const { status, body } = await server().get(`/api/credentials/${identifier}${query}`)
        expect(status).toBe(404)
        expect(body).toMatchObject({
          error: `Credential '${decodeURIComponent(identifier)}' not found`,
          status: 404,
        })
      }
    },
  )

  test.each([
    'include_data=maybe',
    'execution_id=abc',
    'include_data=true&execution_id=99999999999999999999',
  ])('with the query %s is refused', async (query) => {
    expect((await server().get(`/api/credentials/pg_main?${query}`)).status).toBe(422)
  })

  test('that another key sealed says what to do', async () => {
    const other = withKeys(server(), { key: Buffer.alloc(32, 9) })
    await server().post('/api/credentials', PG)
    const { status, body } = await other.get('/api/credentials/pg_main?include_data=true')
    expect(status).toBe(500)
    expect(body['error']).toBe(
      "Credential 'pg_main' cannot be decrypted: sealed with a key that this server does not have. If the key was changed, give the old one as NOETL_ENCRYPTION_KEY_PREVIOUS.",
    )
    expect((await other.get('/api/credentials/pg_main')).status).toBe(200)
    await other.close()
  })

  test('on a server without a key is unavailable', async () => {
    const keyless = withKeys(server(), { key: null })
    expect((await keyless.get('/api/credentials/pg_main?include_data=true')).status).toBe(503)
    expect((await keyless.post('/api/credentials', PG)).status).toBe(503)
    await keyless.close()
  })
})

describe('reading a credential for an execution', () => {
  test('finds keychain entries of its playbook, the narrowest scope first', async () => {
    const catalogId = await server().register(single('tests/keychain'))
    const executionId = await server().execute('tests/keychain')
    const alias = `/api/credentials/token?include_data=true&execution_id=${executionId}`
    const put = (body: JsonObject) => server().post(`/api/keychain/${catalogId}/token`, body)
    expect((await server().get(alias)).status).toBe(404)
    await put({ data: { from: 'global' }, expires_in: 60 })
    expect((await server().get(alias)).body).toMatchObject({
      id: '0',
      name: 'token',
      type: 'keychain',
      description: 'resolved from keychain provider',
      data: { from: 'global' },
    })
    await put({ data: { from: 'parent' }, scope_type: 'shared', execution_id: '77', expires_in: 60 })
    expect((await server().get(`${alias}&parent_execution_id=77`)).body).toMatchObject({
      data: { from: 'parent' },
    })
    await put({ data: { from: 'local' }, scope_type: 'local', execution_id: executionId, expires_in: 60 })
    expect((await server().get(alias)).body).toMatchObject({ data: { from: 'local' } })
    // Only who asks for the data gets it from there.
    expect((await server().get(`/api/credentials/token?execution_id=${executionId}`)).status).toBe(404)
  })

  test('passes over entries that expired', async () => {
    const catalogId = await server().register(single('tests/expired'))
    const executionId = await server().execute('tests/expired')
    await server().post(`/api/keychain/${catalogId}/old`, { data: {}, expires_at: '2020-01-01T00:00:00Z' })
    expect(
      (await server().get(`/api/credentials/old?include_data=true&execution_id=${executionId}`)).status,
    ).toBe(404)
  })
})

describe('sealing a credential for a worker', () => {
  const { publicKey, privateKey } = generateKeyPairSync('x25519')
  const announced = Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url').toString('base64')
  const register = (name: string, runtime: unknown) =>
    server().post('/api/worker/pool/register', { name, runtime })

  /** What a worker does with the answer. */
  const openAsWorker = (box: JsonObject): JsonObject => {
    const ephemeral = Buffer.from(textOf(box['eph_pub']), 'base64')
    const peer = createPublicKey({
      key: { kty: 'OKP', crv: 'X25519', x: ephemeral.toString('base64url') },
      format: 'jwk',
    })
    const derived = Buffer.from(
      hkdfSync('sha256', diffieHellman({ privateKey, publicKey: peer }), '', 'noetl-sealed-v1', 44),
    )
    const bytes = Buffer.from(textOf(box['ciphertext']), 'base64')
    const decipher = createDecipheriv('chacha20-poly1305', derived.subarray(0, 32), derived.subarray(32), {
      authTagLength: 16,
    })
    decipher.setAAD(Buffer.from(`${textOf(box['alg'])}|v=${textOf(box['v'])}`), {
      plaintextLength: bytes.length - 16,
    })
    decipher.setAuthTag(bytes.subarray(-16))
    return JSON.parse(
      Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString(),
    ) as JsonObject
  }

  test('lets that worker read it and nobody else', async () => {
    await server().post('/api/credentials', PG)
    await register('worker-1', { kind: 'rust', worker_public_key: announced })
    const { status, body, text } = await server().get(
      '/api/credentials/pg_main/sealed?worker_id=worker-1&execution_id=5',
    )
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual(['alg', 'ciphertext', 'eph_pub', 'v'])
    expect(text).not.toContain('hunter2')
    expect(openAsWorker(body)).toMatchObject({
      name: 'pg_main',
      type: 'postgres',
      tags: ['prod'],
      data: PG.data,
    })
  })

  test('says what is missing', async () => {
    await register('keyless', { kind: 'rust' })
    await register('bare', null)
    await register('short', { worker_public_key: 'AAAA' })
    await register('weak', { worker_public_key: Buffer.alloc(32).toString('base64') })
    const answers = await Promise.all(
      [
        '',
        '?worker_id=',
        '?worker_id=unknown',
        '?worker_id=keyless',
        '?worker_id=bare',
        '?worker_id=short',
        '?worker_id=weak',
      ].map((query) => server().get(`/api/credentials/pg_main/sealed${query}`)),
    )
    expect(answers.map(({ status, body }) => [status, body['error']])).toEqual([
      [400, 'worker_id is required'],
      [400, 'worker_id is required'],
      [400, "Worker 'unknown' is not registered"],
      [400, "Worker 'keyless' announced no public key"],
      [400, "Worker 'bare' announced no public key"],
      [400, "The public key of worker 'short' is not base64 of 32 bytes"],
      [400, "The public key of worker 'weak' is not a safe one"],
    ])
    expect((await server().get('/api/credentials/nobody/sealed?worker_id=worker-1')).status).toBe(404)
  })
})

describe('deleting a credential', () => {
  test('works by name and by id, once', async () => {
    for (const key of ['name', 'id']) {
      const { body } = await server().post('/api/credentials', { name: 'short-lived', data: {} })
      const path = `/api/credentials/${textOf(body[key])}`
      const answer = await server().send('DELETE', path)
      expect(answer.body).toEqual({ message: 'Credential deleted successfully', id: body['id'] })
      expect((await server().send('DELETE', path)).status).toBe(404)
    }
  })
})
