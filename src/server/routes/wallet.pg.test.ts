import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../contract/json.ts'
import { createWallet } from '../../lib/envelope.ts'
import { INTERNAL_TOKEN, TEST_KEY, withKeys } from '../../../test/support/api-server.ts'
import { single } from '../../../test/support/playbooks.ts'
import { useApiServer } from '../../../test/support/server-file.ts'

const NEW_KEY = Buffer.alloc(32, 3)
const ROTATE = '/api/internal/wallet/rotate-kek'
const STATUS = '/api/internal/wallet/key-status'
const ALLOWED = { authorization: `Bearer ${INTERNAL_TOKEN}` }

const server = useApiServer()

describe('the internal door', () => {
  test.each([
    [undefined, 'Internal API requires Authorization header with Bearer token.'],
    ['Basic abc', "Internal API requires 'Bearer <token>' Authorization scheme."],
    ['Bearer', "Internal API requires 'Bearer <token>' Authorization scheme."],
    ['Bearer  ', "Internal API requires 'Bearer <token>' Authorization scheme."],
    ['Bearer wrong', 'Invalid service-account token for /api/internal/*.'],
    [`Bearer ${INTERNAL_TOKEN} more`, 'Invalid service-account token for /api/internal/*.'],
    ['Bearer tökén', 'Internal API Authorization header is not valid ASCII.'],
  ])('refuses %s before it reads the body', async (authorization, error) => {
    for (const [method, path] of [
      ['POST', ROTATE],
      ['GET', STATUS],
    ] as const) {
      const { status, body } = await server().send(
        method,
        path,
        method === 'POST' ? '{broken' : undefined,
        authorization === undefined ? {} : { authorization },
      )
      expect([status, body['error'], body['status']]).toEqual([403, error, 403])
    }
  })

  test.each([`Bearer ${INTERNAL_TOKEN}`, `bearer   ${INTERNAL_TOKEN} `, `BEARER ${INTERNAL_TOKEN}`])(
    'lets %j in',
    async (authorization) => {
      expect((await server().send('GET', STATUS, undefined, { authorization })).status).toBe(200)
    },
  )

  test.each([null, '', '  '])('is closed when the token is %j', async (internalToken) => {
    const closed = withKeys(server(), { internalToken })
    const { status, body } = await closed.send('GET', STATUS, undefined, ALLOWED)
    expect(status).toBe(503)
    expect(body['error']).toBe(
      'Internal API not configured: NOETL_INTERNAL_API_TOKEN env var unset on the server.',
    )
    await closed.close()
  })
})

describe('changing the key', () => {
  test('puts everything under the new one, so that the old one can go', async () => {
    const catalogId = await server().register(single('tests/rotation'))
    for (let n = 0; n < 5; n += 1)
      await server().post('/api/credentials', { name: `c${n}`, data: { secret: `s${n}` } })
    for (let n = 0; n < 3; n += 1)
      await server().post(`/api/keychain/${catalogId}/k${n}`, {
        data: { n },
        renew_config: { client_secret: 'x' },
        auto_renew: true,
      })
    const both = withKeys(server(), { key: NEW_KEY, previousKeys: [TEST_KEY] })
    const only = withKeys(server(), { key: NEW_KEY })
    const oldPrint = createWallet(TEST_KEY).fingerprint
    const newPrint = createWallet(NEW_KEY).fingerprint

    // Without the old key nothing can be done, and nothing is damaged.
    const failing = await only.send('POST', ROTATE, {}, ALLOWED)
    expect(failing.body).toMatchObject({
      credential: { processed: 5, failed: 5, rewrapped: 0 },
      keychain: { processed: 3, failed: 3 },
    })

    // What is written meanwhile is under the new key already.
    await both.post('/api/credentials', { name: 'c9', data: { secret: 's9' } })
    expect((await both.get('/api/credentials/c0?include_data=true')).body).toMatchObject({
      data: { secret: 's0' },
    })
    expect((await both.send('GET', STATUS, undefined, ALLOWED)).body).toEqual({
      credential: { v1: 6 },
      keychain: { v1: 3 },
      current_key: newPrint,
      by_key: { credential: { [oldPrint]: 5, [newPrint]: 1 }, keychain: { [oldPrint]: 3 } },
    })

    const rotated = await both.send('POST', ROTATE, { batch_size: 2 }, ALLOWED)
    expect(rotated.body).toMatchObject({
      credential: { processed: 6, rewrapped: 5, skipped: 1, failed: 0 },
      keychain: { processed: 3, rewrapped: 3, skipped: 0, failed: 0, last_id: `k2:${catalogId}:global` },
    })
    expect(rotated.text).toMatch(/"credential":\{[^}]*"last_id":\d+\}/)

    expect((await only.get('/api/credentials/c0?include_data=true')).body).toMatchObject({
      data: { secret: 's0' },
    })
    expect((await only.get(`/api/keychain/${catalogId}/k1`)).body).toMatchObject({
      data: { n: 1 },
      renew_config: { client_secret: 'x' },
    })
    expect((await server().get('/api/credentials/c0?include_data=true')).status).toBe(500)
    expect((await only.send('POST', ROTATE, undefined, ALLOWED)).body).toMatchObject({
      credential: { processed: 6, skipped: 6 },
      keychain: { skipped: 3 },
    })
    await Promise.all([both.close(), only.close()])
  })

  test('stops after the given number of batches', async () => {
    const { body } = await server().send('POST', ROTATE, { batch_size: 2, max_batches: 1 }, ALLOWED)
    expect((body['credential'] as JsonObject)['processed']).toBe(2)
  })

  test.each([{ batch_size: 0 }, { batch_size: 'x' }, { max_batches: -1 }, { batch_size: 1.5 }, []])(
    'refuses %j',
    async (limits) => {
      expect((await server().send('POST', ROTATE, limits, ALLOWED)).status).toBe(422)
    },
  )

  test('on a server without a key is unavailable', async () => {
    const keyless = withKeys(server(), { key: null })
    expect((await keyless.send('POST', ROTATE, {}, ALLOWED)).status).toBe(503)
    expect((await keyless.send('GET', STATUS, undefined, ALLOWED)).status).toBe(503)
    await keyless.close()
  })
})
