import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../app.ts'
import type { TestDatabase } from '../../../test/support/postgres.ts'
import { createTestDatabase } from '../../../test/support/postgres.ts'
import type { TestServer } from '../../../test/support/server.ts'
import { startServer } from '../../../test/support/server.ts'

let database: TestDatabase
let server: TestServer
let app: ReturnType<typeof createApp>
beforeAll(async () => {
  database = await createTestDatabase()
  server = await startServer([database.url])
  const { core, leases } = server
  app = createApp({ core, leases, version: 'test', closing: new AbortController().signal })
})
afterAll(async () => {
  await app.close()
  await server.close()
  await database.drop()
})

const send = (method: 'POST' | 'PUT', url: string, payload: Buffer | string, type?: string) =>
  app.inject({ method, url, payload, headers: type === undefined ? {} : { 'content-type': type } })
const get = (url: string) => app.inject({ method: 'GET', url })
const digestOf = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

const BYTES = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 256))

describe('objects', () => {
  test('come back byte for byte, with their type and digest', async () => {
    const key = 'results/2026/a b.feather'
    const url = `/api/internal/objects/${key.replace(' ', '%20')}`
    const stored = await send('PUT', `${url}?media_type=application/vnd.apache.arrow.file`, BYTES)
    expect(stored.statusCode).toBe(200)
    expect(stored.json()).toEqual({ key, digest: digestOf(BYTES), bytes: 1000 })
    const loaded = await get(url)
    expect(loaded.rawPayload).toEqual(BYTES)
    expect(loaded.headers).toMatchObject({
      'content-type': 'application/vnd.apache.arrow.file',
      etag: `"${digestOf(BYTES)}"`,
    })
  })

  test.each(['application/json', 'text/html', 'application/octet-stream', 'nonsense', undefined])(
    'are taken as they are, whatever their type says: %s',
    async (type) => {
      const text = '{ "a" :  1 , "a": 2 }'
      expect((await send('PUT', '/api/internal/objects/odd', text, type)).json()).toMatchObject({
        bytes: text.length,
      })
      expect((await get('/api/internal/objects/odd')).payload).toBe(text)
    },
  )

  test('are replaced, may be empty, and may be large', async () => {
    await send('PUT', '/api/internal/objects/x', '1')
    await send('PUT', '/api/internal/objects/x', '')
    expect((await get('/api/internal/objects/x')).rawPayload).toHaveLength(0)
    const large = Buffer.alloc(20 * 1024 * 1024, 1)
    expect((await send('PUT', '/api/internal/objects/x', large)).json()).toMatchObject({
      bytes: large.length,
    })
  })

  test('that nobody stored are not found; a key has an end', async () => {
    expect((await get('/api/internal/objects/nothing')).statusCode).toBe(404)
    expect((await send('PUT', `/api/internal/objects/${'k'.repeat(1025)}`, 'x')).statusCode).toBe(400)
    expect((await send('PUT', '/api/internal/objects/x?media_type=', 'x')).statusCode).toBe(422)
  })
})

describe('plugins', () => {
  const url = '/api/internal/plugins/tools/geo'

  test('are kept by path and version, and checked by their digest', async () => {
    for (const version of [1, 2])
      expect(
        (
          await send('POST', `${url}?version=${version}&media_type=application/wasm`, `code ${version}`)
        ).json(),
      ).toEqual({ path: 'tools/geo', version, digest: digestOf(`code ${version}`), bytes: 6 })
    const loaded = await get(`${url}?version=2&digest=${digestOf('code 2')}`)
    expect([loaded.payload, loaded.headers['content-type'], loaded.headers['etag']]).toEqual([
      'code 2',
      'application/wasm',
      `"${digestOf('code 2')}"`,
    ])
    expect((await get(`${url}?version=1&digest=${digestOf('code 2')}`)).statusCode).toBe(409)
    await send('POST', `${url}?version=1`, 'code 3')
    expect((await get(`${url}?version=1`)).payload).toBe('code 3')
  })

  test('that do not exist are not found, and versions are numbers', async () => {
    expect((await get(`${url}?version=9`)).statusCode).toBe(404)
    expect((await get(`${url}?version=x`)).statusCode).toBe(422)
  })
})

test('other routes do not take bytes', async () => {
  const answer = await send('POST', '/api/execute', '{}', 'application/octet-stream')
  expect(answer.statusCode).toBe(415)
  expect((await send('POST', '/api/execute', '{}', 'application/x-noetl-bytes')).statusCode).toBe(422)
})
