import { beforeEach, describe, expect, test } from 'vitest'
import { useDatabase } from '../../test/support/database.ts'
import {
  backoffSeconds,
  claimOutbox,
  countPending,
  deletePublished,
  markFailed,
  markPublished,
  releaseOutbox,
} from './outbox.ts'

const database = useDatabase()

beforeEach(async () => {
  await database().query('truncate noetl.outbox restart identity')
})

const put = async (count: number): Promise<readonly string[]> => {
  const { rows } = await database().query<{ outbox_id: string }>(
    `insert into noetl.outbox (execution_id, event_id, subject, payload)
     select 320816801799737344, 320816801799737344 + n, 'noetl.events.note', json_build_object('event_id', 320816801799737344 + n)
     from generate_series(1, $1) n returning outbox_id`,
    [count],
  )
  return rows.map((row) => row.outbox_id)
}

const rowOf = async (id: string) =>
  (
    await database().query(
      `select *, available_at > now() as hidden from noetl.outbox where outbox_id = $1`,
      [id],
    )
  ).rows[0] as {
    status: string
    attempts: number
    last_error: string | null
    published_at: string
    hidden: boolean
  }

const makeDue = (): Promise<unknown> =>
  database().query("update noetl.outbox set available_at = now() - interval '1 s'")

describe('claiming', () => {
  test('gives the oldest first, each to one (1)', async () => {
    const ids = await put(10)
    const claims = await Promise.all([claimOutbox(database(), 3), claimOutbox(database(), 3)])
    const claimed = claims.flat().map((row) => row.outbox_id)
    expect(new Set(claimed)).toEqual(new Set(ids.slice(0, 6)))
    expect(claimed).toHaveLength(6)
    expect(await countPending(database())).toBe(4)
  })

  test('keeps the digits of ids in payloads', async () => {
    await put(1)
    const [row] = await claimOutbox(database(), 1)
    expect(row).toMatchObject({ event_id: '320816801799737345', attempts: 1, payload_codec: 'json' })
    expect(row?.payload.replaceAll(' ', '')).toBe('{"event_id":320816801799737345}')
  })

  test('runs out after a while, so that the rows of a dead publisher are claimed again (2)', async () => {
    const [id = ''] = await put(1)
    await claimOutbox(database(), 1)
    expect(await claimOutbox(database(), 1)).toEqual([])
    expect(await countPending(database())).toBe(0)
    await makeDue()
    expect(await countPending(database())).toBe(1)
    expect(await claimOutbox(database(), 1)).toMatchObject([{ outbox_id: id, attempts: 2 }])
  })

  test('can be given back', async () => {
    const [id = ''] = await put(1)
    await claimOutbox(database(), 1)
    await releaseOutbox(database(), [id])
    expect(await claimOutbox(database(), 1)).toMatchObject([{ outbox_id: id, attempts: 1 }])
  })
})

describe('marking', () => {
  test('published keeps the first instant, however often it is said (3)', async () => {
    const [id = ''] = await put(1)
    await claimOutbox(database(), 1)
    expect(await markPublished(database(), [id, '999'])).toBe(1)
    const first = await rowOf(id)
    expect(first).toMatchObject({ status: 'PUBLISHED', last_error: null })
    expect(await markPublished(database(), [id])).toBe(1)
    expect((await rowOf(id)).published_at).toBe(first.published_at)
    expect(await claimOutbox(database(), 1)).toEqual([])
  })

  test('failed hides the row for a while and keeps 2,000 characters of the reason', async () => {
    const [id = ''] = await put(1)
    await claimOutbox(database(), 1)
    const error = '🜚'.repeat(2001)
    expect(await markFailed(database(), { outboxId: id, error, delaySeconds: 60 })).toBe(true)
    expect(await rowOf(id)).toMatchObject({ status: 'FAILED', last_error: '🜚'.repeat(2000), hidden: true })
    expect(await claimOutbox(database(), 1)).toEqual([])
    await makeDue()
    expect(await claimOutbox(database(), 1)).toMatchObject([{ outbox_id: id, attempts: 2 }])
  })

  test('failed does not take back what was published, and an unknown row is no problem', async () => {
    const [id = ''] = await put(1)
    await markPublished(database(), [id])
    expect(await markFailed(database(), { outboxId: id, error: 'late', delaySeconds: 1 })).toBe(false)
    expect(await markFailed(database(), { outboxId: '999', error: 'x\0\ud800', delaySeconds: 1 })).toBe(false)
  })

  test.each([
    [0, 300, 1],
    [1, 300, 1],
    [2, 300, 2],
    [5, 300, 16],
    [9, 300, 256],
    [20, 300, 256],
    [5, 10, 10],
    [-3, 300, 1],
  ])('the %dth failure with at most %d s waits %d s', (attempts, most, seconds) => {
    expect(backoffSeconds(attempts, most)).toBe(seconds)
  })
})

test('what was published long ago is deleted, in batches; the rest stays', async () => {
  const ids = await put(5)
  await markPublished(database(), ids.slice(0, 4))
  await database().query(
    "update noetl.outbox set published_at = now() - interval '2 hours' where outbox_id = any ($1::bigint[])",
    [ids.slice(0, 3)],
  )
  expect(await deletePublished(database(), { olderThanSeconds: 3600, max: 2 })).toBe(2)
  expect(await deletePublished(database(), { olderThanSeconds: 3600, max: 2 })).toBe(1)
  expect(await deletePublished(database(), { olderThanSeconds: 3600, max: 2 })).toBe(0)
  expect((await database().query('select 1 from noetl.outbox')).rows).toHaveLength(2)
})
