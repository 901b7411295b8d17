/**
 * Replays of stored logs against the plain fold of the events that a cutoff leaves, whatever order they are stored
 * in, with snapshots and without. REPLAY_SEEDS tries more logs.
 */
import { describe, expect, test } from 'vitest'
import { useDatabase } from '../../../test/support/database.ts'
import type { StoredEvent } from '../../../test/support/replay-log.ts'
import { freshExecutionId, storeEvents, storeExecution } from '../../../test/support/replay-log.ts'
import type { Random } from '../../engine/testing/random.ts'
import { createRandom } from '../../engine/testing/random.ts'
import { foldEvents } from '../../replay/projection/fold.ts'
import { compareEventIds, eventOfRow } from '../../replay/projection/replay-event.ts'
import { randomLog, shuffled } from '../../replay/testing/random-log.ts'
import { shownText } from '../../replay/testing/shown.ts'
import type { Log } from '../log.ts'
import type { ReplayCutoff, Replayed } from './replay.ts'
import { replay } from './replay.ts'

const database = useDatabase()
const scope = { tenantId: 'default', organizationId: 'default' }
const seeds = Array.from({ length: Number(process.env['REPLAY_SEEDS'] ?? 6) }, (_, index) => index + 1)
const NO_CUTOFF: ReplayCutoff = { eventId: null, time: null, position: null }
const warnings: string[] = []
const log: Log = {
  info: () => undefined,
  error: () => undefined,
  warn: (_facts, message) => void warnings.push(message),
}

const run = (
  executionId: string,
  cutoff: Partial<ReplayCutoff> = {},
  more: { limit?: number; useSnapshots?: boolean; window?: number } = {},
): Promise<Replayed> =>
  replay(
    {
      executionId,
      scope,
      cutoff: { ...NO_CUTOFF, ...cutoff },
      limit: more.limit ?? Number.POSITIVE_INFINITY,
    },
    {
      database: database(),
      log,
      pageSize: 7,
      window: more.window ?? 3,
      snapshotDistance: 5,
      useSnapshots: more.useSnapshots ?? true,
    },
  )

const START = Date.UTC(2026, 0, 1)

/** Times mostly grow with ids, and are told to the microsecond. */
const timed = (random: Random, length: number): readonly StoredEvent[] =>
  randomLog(random, length).map((row, index) => ({
    ...row,
    createdAt: new Date(START + index * 10 + random.below(30))
      .toISOString()
      .replace('Z', `${String(random.below(1000)).padStart(3, '0')}Z`),
  }))

const ARRIVALS: Readonly<
  Record<string, (random: Random, events: readonly StoredEvent[]) => readonly StoredEvent[]>
> = {
  'in order': (_random, events) => events,
  nearly: (random, events) => {
    const list = [...events]
    for (let index = 1; index < list.length; index += 1)
      if (random.chance(0.3))
        list.splice(index - 1, 2, list[index] as StoredEvent, list[index - 1] as StoredEvent)
    return list
  },
  'not at all': (random, events) => shuffled(random, events),
}

/** What the fold of the events within the cutoff shows. */
const expected = (
  stored: readonly StoredEvent[],
  cutoff: Partial<ReplayCutoff>,
  limit = Number.POSITIVE_INFINITY,
): string => {
  const within = stored
    .filter((event, index) => {
      if (cutoff.eventId) return compareEventIds(event.eventId, cutoff.eventId) <= 0
      if (cutoff.time) return event.createdAt <= cutoff.time
      return index < (cutoff.position ?? stored.length)
    })
    .toSorted((left, right) => compareEventIds(left.eventId, right.eventId))
    .slice(0, limit)
  return shownText(foldEvents(within.map((row) => eventOfRow(row, scope)).filter((event) => event !== null)))
}

const randomCutoff = (random: Random, stored: readonly StoredEvent[]): Partial<ReplayCutoff> => {
  const some = random.pick(stored)
  return random.pick<Partial<ReplayCutoff>>([
    {},
    { eventId: some.eventId },
    { time: some.createdAt },
    { position: random.below(stored.length + 2) },
  ])
}

const snapshotCount = async (executionId: string): Promise<number> => {
  const { rows } = await database().query<{ count: number }>(
    'select count(*)::int as count from noetl.replay_snapshot where execution_id = $1',
    [executionId],
  )
  return rows[0]?.count ?? 0
}

describe.each(Object.entries(ARRIVALS))('a log that arrived %s', (_name, arrive) => {
  test.each(seeds)('is replayed to any point, with snapshots or without (log %s)', async (seed) => {
    const random = createRandom(seed)
    const executionId = freshExecutionId()
    const events = arrive(random, timed(random, 60 + random.below(60)))
    const stored: StoredEvent[] = []
    let used = 0
    while (stored.length < events.length) {
      // The log grows between replays, also with events that belong before a snapshot.
      const more = events.slice(stored.length, stored.length + 20 + random.below(40))
      await storeEvents(database(), executionId, more)
      stored.push(...more)
      for (let times = 0; times < 6; times += 1) {
        const cutoff = randomCutoff(random, stored)
        const limit = random.chance(0.3) ? 1 + random.below(stored.length + 5) : Number.POSITIVE_INFINITY
        const useSnapshots = random.chance(0.9)
        const { state, snapshot } = await run(executionId, cutoff, { limit, useSnapshots })
        if (snapshot) used += 1
        expect(shownText(state), JSON.stringify({ cutoff, limit })).toBe(expected(stored, cutoff, limit))
      }
    }
    expect(used).toBeGreaterThan(0)
    expect(await snapshotCount(executionId)).toBeGreaterThan(0)
  })
})

describe('snapshots', () => {
  const prepared = async (
    length: number,
  ): Promise<{ executionId: string; events: readonly StoredEvent[] }> => {
    const executionId = freshExecutionId()
    const events = timed(createRandom(length), length)
    await storeEvents(database(), executionId, events)
    await run(executionId)
    return { executionId, events }
  }

  test('shorten the way to any point, and stand for what they say', async () => {
    const { executionId, events } = await prepared(100)
    expect(await snapshotCount(executionId)).toBeGreaterThan(4)
    const { snapshot } = await run(executionId, { position: 90 })
    expect(snapshot?.eventCount).toBeGreaterThan(60)
    const early = await run(executionId, { eventId: events[30]?.eventId ?? null })
    expect(early.snapshot?.eventCount).toBeLessThanOrEqual(31)
    expect(early.lastPosition).toBe(31)
  })

  test.each([
    ['bytes', "state = state || '\\x00'::bytea"],
    ['digest', "sha256 = repeat('0', 64)"],
    ['count', 'event_count = event_count - 1'],
  ])(
    'with other %s than they were written with are not used, and are said to be broken',
    async (_what, change) => {
      const { executionId, events } = await prepared(50)
      await database().query(`update noetl.replay_snapshot set ${change} where execution_id = $1`, [
        executionId,
      ])
      const before = warnings.length
      const { state, snapshot } = await run(executionId)
      expect(snapshot).toBeNull()
      expect(warnings.length).toBeGreaterThan(before)
      expect(shownText(state)).toBe(expected(events, {}))
      expect((await run(executionId)).snapshot, 'written anew').not.toBeNull()
    },
  )

  test('of another form are not used', async () => {
    const { executionId } = await prepared(50)
    await database().query('update noetl.replay_snapshot set format = 0 where execution_id = $1', [
      executionId,
    ])
    expect((await run(executionId)).snapshot).toBeNull()
  })

  test('are void when an event comes late', async () => {
    const { executionId, events } = await prepared(50)
    const [first] = timed(createRandom(7), 1)
    if (!first) throw new Error('no event')
    const late = {
      ...first,
      eventId: '5',
      eventType: 'stage.opened',
      meta: '{"stage_id": "late"}',
      extra: null,
    }
    await storeEvents(database(), executionId, [late])
    const { state } = await run(executionId)
    expect(shownText(state)).toBe(expected([...events, late], {}))
    expect(state.stages.get('late')).toMatchObject({ opened_event_id: '5' })
  })

  test('are not written without need', async () => {
    const { executionId } = await prepared(100)
    const count = await snapshotCount(executionId)
    for (let position = 1; position <= 100; position += 9) await run(executionId, { position })
    await run(executionId)
    expect(await snapshotCount(executionId)).toBeLessThanOrEqual(count * 2)
  })
})

describe('what a replay tells', () => {
  test('the status of the row without a cutoff, that of the fold with one', async () => {
    const executionId = freshExecutionId()
    await storeExecution(database(), executionId, 'FAILED')
    const [event] = timed(createRandom(1), 1)
    if (!event) throw new Error('no event')
    await storeEvents(database(), executionId, [
      { ...event, eventId: '1', eventType: 'step.enter' },
      { ...event, eventId: '2', eventType: 'playbook.completed' },
    ])
    expect((await run(executionId)).status).toBe('FAILED')
    const cut = await run(executionId, { eventId: '2' })
    expect([cut.status, cut.state.execution.status]).toEqual([null, 'COMPLETED'])
    const limited = await run(executionId, {}, { limit: 1 })
    expect([limited.status, limited.state.execution.status, limited.nextEventId]).toEqual([
      null,
      'RUNNING',
      '2',
    ])
  })

  test('only what belongs to the tenant', async () => {
    const executionId = freshExecutionId()
    const [one, two] = timed(createRandom(3), 2)
    if (!one || !two) throw new Error('no events')
    await storeEvents(database(), executionId, [
      { ...one, extra: '{"tenant_id": "a", "organization_id": "o"}' },
      { ...two, extra: '{"tenant_id": "b", "organization_id": "o"}' },
    ])
    const of = (tenantId: string): Promise<Replayed> =>
      replay(
        { executionId, scope: { tenantId, organizationId: 'o' }, cutoff: NO_CUTOFF, limit: 10 },
        { database: database(), log },
      )
    expect((await of('a')).state.lastEventId).toBe(one.eventId)
    expect((await of('b')).state.lastEventId).toBe(two.eventId)
    await expect(of('default')).rejects.toThrow(`Execution not found: ${executionId}`)
    await expect(run(executionId)).rejects.toThrow('not found')
  })

  test('an empty state before the first event, and that there is no such execution', async () => {
    const executionId = freshExecutionId()
    await storeEvents(database(), executionId, timed(createRandom(4), 3))
    expect((await run(executionId, { eventId: '1' })).state.eventCount).toBe(0)
    expect((await run(executionId, { position: 0 })).lastPosition).toBe(0)
    await expect(run(freshExecutionId())).rejects.toMatchObject({ code: 'not_found' })
  })
})
