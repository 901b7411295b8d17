import { beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../contract/json.ts'
import { INTERNAL_TOKEN, withKeys } from '../../../test/support/api-server.ts'
import type { Response } from '../../../test/support/server.ts'
import { textOf } from '../../../test/support/server.ts'
import { useApiServer } from '../../../test/support/server-file.ts'

const ALLOWED = { authorization: `Bearer ${INTERNAL_TOKEN}` }
const EVENT = 320816801799737344n

const server = useApiServer(2)

beforeEach(async () => {
  for (const database of server().databases) await database.query('truncate noetl.outbox restart identity')
})

const post = (path: string, body?: unknown): Promise<Response> =>
  server().send('POST', `/api/internal/outbox/${path}`, body, ALLOWED)
const pending = async (): Promise<unknown> =>
  (await server().send('GET', '/api/internal/outbox/pending-count', undefined, ALLOWED)).body

const put = async (shard: number, count: number): Promise<void> => {
  await server().databases[shard]?.query(
    `insert into noetl.outbox (execution_id, event_id, subject, payload)
     select case when n > 1 then $2::bigint end, $2 + n, case when n > 1 then 'noetl.events.note' end, json_build_object('event_id', $2 + n)
     from generate_series(1, $1) n`,
    [count, String(EVENT + BigInt(shard * 100))],
  )
}

describe('the outbox over HTTP', () => {
  test('is claimed over all databases, marked by the ids that were given out, and counted', async () => {
    await put(0, 3)
    await put(1, 3)
    expect(await pending()).toEqual({ pending: 6 })
    const claim = await post('claim', { limit: 5 })
    expect(claim.status).toBe(200)
    const rows = claim.body['rows'] as JsonObject[]
    expect(claim.body['claimed']).toBe(5)
    expect(new Set(rows.map((row) => row['outbox_id'])).size).toBe(5)
    expect(claim.text).toContain(`"payload":{"event_id" : ${EVENT + 2n}}`)
    expect(rows.find((row) => row['event_id'] === String(EVENT + 1n))).toEqual({
      outbox_id: expect.any(Number) as number,
      event_id: String(EVENT + 1n),
      payload: { event_id: String(EVENT + 1n) },
      payload_codec: 'json',
      attempts: 1,
    })
    expect(await pending()).toEqual({ pending: 1 })
    const ids = rows.map((row) => row['outbox_id'])
    expect((await post('mark-published', { outbox_ids: ids.slice(0, 4) })).body).toEqual({ marked: 4 })
    expect((await post('mark-published', { outbox_ids: [ids[0], textOf(ids[1]), 99_999] })).body).toEqual({
      marked: 2,
    })
    expect((await post('mark-failed', { outbox_id: ids[4], error: 'no', attempts: 3 })).body).toEqual({
      marked: true,
      available_at_in: 4,
    })
    expect(await pending()).toEqual({ pending: 1 })
  })

  test.each([
    [undefined, 100],
    [{}, 100],
    [{ limit: 0 }, 1],
    [{ limit: -5 }, 1],
    [{ limit: 5000 }, 150],
  ])('claims as many as asked for, between 1 and 1,000: %j', async (body, expected) => {
    await put(0, 150)
    expect((await post('claim', body)).body['claimed']).toBe(expected)
  })

  test('marks no failure of a row that does not exist or was published', async () => {
    expect((await post('mark-failed', { outbox_id: 12_345, error: 'x' })).body).toEqual({
      marked: false,
      available_at_in: 1,
    })
    expect(
      (await post('mark-failed', { outbox_id: '7', error: 'x', attempts: 9, max_delay_seconds: 10 })).body,
    ).toEqual({
      marked: false,
      available_at_in: 10,
    })
    await put(0, 1)
    const { rows } = (await post('claim', {})).body as { rows: JsonObject[] }
    const outbox_id = rows[0]?.['outbox_id']
    await post('mark-published', { outbox_ids: [outbox_id] })
    expect((await post('mark-failed', { outbox_id, error: 'late' })).body).toMatchObject({ marked: false })
    expect(await pending()).toEqual({ pending: 0 })
  })

  test.each([
    ['mark-published', { outbox_ids: [] }, 400, 'outbox_ids must not be empty'],
    ['mark-failed', { outbox_id: 1, error: '' }, 400, 'error must not be empty'],
    ['mark-published', {}, 422, undefined],
    ['mark-published', { outbox_ids: [1.5] }, 422, undefined],
    ['mark-failed', { outbox_id: 1 }, 422, undefined],
    ['mark-failed', { outbox_id: 'x', error: 'y' }, 422, undefined],
    ['claim', { limit: 'x' }, 422, undefined],
    ['claim', [], 422, undefined],
  ])('refuses %s %j', async (path, body, status, error) => {
    const answer = await post(path, body)
    expect(answer.status).toBe(status)
    if (error !== undefined) expect(answer.body['error']).toBe(error)
  })

  test('is closed to those without the token, and on a server that has none', async () => {
    for (const path of ['claim', 'mark-published', 'mark-failed'])
      expect((await server().send('POST', `/api/internal/outbox/${path}`, '{broken')).status).toBe(403)
    expect((await server().get('/api/internal/outbox/pending-count')).status).toBe(403)
    const closed = withKeys(server(), { internalToken: null })
    expect((await closed.send('GET', '/api/internal/outbox/pending-count', undefined, ALLOWED)).status).toBe(
      503,
    )
    await closed.close()
  })
})
