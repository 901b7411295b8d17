import { beforeAll, describe, expect, test } from 'vitest'
import { EventsAnswer } from '../../contract/api-executions.ts'
import type { JsonObject } from '../../contract/json.ts'
import { anAppend, nextTestId } from '../../../test/support/appends.ts'
import { useServer } from '../../../test/support/server-file.ts'
import { testSealer as sealer } from '../../../test/support/server.ts'
import { createAppender } from '../../store/appender.ts'
import { LOOKED_THROUGH } from '../event-pages.ts'

const server = useServer()
const id = nextTestId()
const BASE = 700_000_000_000_000_000n
const EVENTS = 30

/** Every third event is a tick; ids are tens. */
beforeAll(async () => {
  const events = Array.from({ length: EVENTS }, (_, index) => ({
    eventId: (BASE + BigInt(10 * (index + 1))).toString(),
    eventType: index % 3 === 2 ? 'tick' : 'note',
  }))
  await createAppender({ database: server().core.shards.cluster, sealer }).append(anAppend(id, 0, events))
})

const events = async (query: string): Promise<JsonObject & { at: readonly number[] }> => {
  const { status, body } = await server().get(`/api/executions/${id}/events?${query}`)
  expect(status).toBe(200)
  expect(EventsAnswer.safeParse(body).error).toBeUndefined()
  const at = (body['events'] as JsonObject[]).map((event) => Number(event['position']))
  return { ...body, at }
}
const eventId = (position: number): string => (BASE + BigInt(10 * position)).toString()
const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: Math.abs(to - from) + 1 }, (_, index) => (from < to ? from + index : from - index))

describe('a walk', () => {
  test('goes from the oldest to the newest', async () => {
    expect(await events('')).toMatchObject({
      execution_id: id,
      at: range(1, EVENTS),
      last_position: EVENTS,
      next_after: null,
      next_before: null,
      pagination: null,
    })
    expect(await events('limit=10')).toMatchObject({ at: range(1, 10), next_after: 10 })
    expect(await events('after=10&limit=10')).toMatchObject({ at: range(11, 20), next_after: 20 })
    expect(await events('after=20&limit=10')).toMatchObject({ at: range(21, 30), next_after: null })
    expect(await events('after=30')).toMatchObject({ at: [], next_after: null })
    expect(await events('after=5&before=8')).toMatchObject({ at: [6, 7], next_after: null })
    expect(await events('after=5&before=8&limit=1')).toMatchObject({ at: [6], next_after: 6 })
  })

  test('goes from the newest to the oldest', async () => {
    expect(await events('order=desc&limit=10')).toMatchObject({
      at: range(30, 21),
      next_before: 21,
      next_after: null,
    })
    expect(await events('order=desc&limit=10&before=21')).toMatchObject({
      at: range(20, 11),
      next_before: 11,
    })
    expect(await events('order=desc&limit=10&before=11')).toMatchObject({
      at: range(10, 1),
      next_before: null,
    })
    expect(await events('order=desc&before=1')).toMatchObject({ at: [], next_before: null })
    expect(await events('order=desc&before=0')).toMatchObject({ at: [], next_before: null })
    expect(await events('order=desc&after=28')).toMatchObject({ at: [30, 29], next_before: null })
  })

  test('begins behind an event, or behind where it would be', async () => {
    expect(await events(`since_event_id=${eventId(28)}`)).toMatchObject({ at: [29, 30] })
    expect(await events(`since_event_id=${(BigInt(eventId(28)) + 5n).toString()}`)).toMatchObject({
      at: [29, 30],
    })
    expect(await events('since_event_id=5&limit=1')).toMatchObject({ at: [1] })
    expect(await events(`since_event_id=${eventId(30)}`)).toMatchObject({ at: [], next_after: null })
    expect(await events(`since_event_id=${eventId(3)}&after=5&limit=1`)).toMatchObject({ at: [6] })
  })

  test('takes only some types', async () => {
    expect(await events('event_type=tick&limit=2')).toMatchObject({ at: [3, 6], next_after: 6 })
    expect(await events('event_type=tick&after=6&limit=3&order=asc')).toMatchObject({ at: [9, 12, 15] })
    expect(await events('event_type=tick&order=desc&limit=1')).toMatchObject({ at: [30], next_before: 30 })
    expect(await events('event_type=tick,%20note&limit=3')).toMatchObject({ at: [1, 2, 3] })
    expect(await events('event_type=none')).toMatchObject({ at: [], next_after: null })
    expect(await events('event_type=,')).toMatchObject({ at: range(1, EVENTS) })
  })
})

describe('numbered pages', () => {
  test('count from the newest, oldest event first', async () => {
    expect(await events('page=1&page_size=4')).toMatchObject({
      at: range(27, 30),
      pagination: {
        page: 1,
        page_size: 4,
        total_events: 30,
        total_pages: 8,
        has_next: true,
        has_prev: false,
      },
    })
    expect(await events('page=8&page_size=4')).toMatchObject({ at: [1, 2], pagination: { has_next: false } })
    expect(await events('page=9&page_size=4')).toMatchObject({ at: [], pagination: { has_next: false } })
    expect(await events('page=2&page_size=4&order=desc')).toMatchObject({ at: range(26, 23) })
    expect(await events('page=1')).toMatchObject({ pagination: { page_size: 100 } })
    expect(await events('page=2147483647&page_size=5000')).toMatchObject({ at: [] })
  })

  test('of types and behind an event', async () => {
    expect(await events('page=2&page_size=3&event_type=tick')).toMatchObject({
      at: [15, 18, 21],
      pagination: { total_events: 10, total_pages: 4, truncated: false },
    })
    expect(await events(`page=1&page_size=5&since_event_id=${eventId(27)}`)).toMatchObject({
      at: [28, 29, 30],
      pagination: { total_events: 3 },
    })
  })
})

test('a rare type in a long log is looked for bit by bit (rule 2 of the pages)', async () => {
  const long = nextTestId()
  const { cluster } = server().core.shards
  const length = LOOKED_THROUGH * 2 + 10
  await createAppender({ database: cluster, sealer }).append(anAppend(long, 0, [{ eventType: 'rare' }]))
  await cluster.query(
    `insert into noetl.event (execution_id, position, event_id, created_at, event_type, meta)
     select $1, n, n, now(), 'note', '{}' from generate_series(2, $2::int) n`,
    [long, length],
  )
  await cluster.query('update noetl.execution set version = $2 where execution_id = $1', [long, length])
  const walk = async (query: string): Promise<JsonObject> =>
    (await server().get(`/api/executions/${long}/events?event_type=rare&${query}`)).body
  expect(await walk('order=desc')).toMatchObject({ events: [], next_before: length - LOOKED_THROUGH + 1 })
  expect(await walk(`order=desc&before=${length - LOOKED_THROUGH + 1}`)).toMatchObject({
    events: [],
    next_before: 11,
  })
  expect(await walk('order=desc&before=11')).toMatchObject({ events: [{ position: 1 }], next_before: null })
  expect(await walk('')).toMatchObject({ events: [{ position: 1 }], next_after: LOOKED_THROUGH })
  expect(await walk(`after=${LOOKED_THROUGH}`)).toMatchObject({ events: [], next_after: LOOKED_THROUGH * 2 })
  expect(await walk('page=1')).toMatchObject({ events: [], pagination: { total_events: 0, truncated: true } })
})

test.each([
  'after=1&page=1',
  'before=1&page_size=5',
  'page=0',
  'page_size=0',
  'page_size=5001',
  'order=up',
  'before=-1',
  'since_event_id=1.5',
  'limit=0',
  'event_type=a&event_type=b',
  'event_type=%00',
])('?%s is refused', async (query) => {
  expect((await server().get(`/api/executions/${id}/events?${query}`)).status).toBe(422)
})

test('an execution that does not exist has no events', async () => {
  expect((await server().get('/api/executions/77/events')).status).toBe(404)
})
