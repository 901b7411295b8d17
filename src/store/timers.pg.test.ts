import { describe, expect, test } from 'vitest'
import { anAppend, nextTestId } from '../../test/support/appends.ts'
import { useDatabase } from '../../test/support/database.ts'
import { createSealer } from '../lib/sealer.ts'
import type { TimerToSet } from './append.ts'
import { createAppender } from './appender.ts'
import { ensurePartitions } from './partitions.ts'
import { deleteTimers, deleteTimersOf, insertTimer, putOffTimersOf, takeDueTimers } from './timers.ts'

const database = useDatabase()
const sealer = createSealer(Buffer.alloc(32, 7))

/** Sets timers with a new execution, as the append does; answers their ids. */
const set = async (...timers: readonly Partial<TimerToSet>[]): Promise<readonly string[]> => {
  await ensurePartitions(database(), new Date())
  const executionId = nextTestId()
  const rows = timers.map((timer): TimerToSet => ({
    timerId: nextTestId(),
    executionId,
    delayMs: 0,
    kind: 'command_timeout',
    payload: {},
    ...timer,
  }))
  const append = anAppend(executionId, 0, [{}], { timers: rows })
  expect(await createAppender({ database: database(), sealer }).append(append)).toBe(true)
  return rows.map(({ timerId }) => timerId)
}

const take = async (max = 100, holdSeconds = 30): Promise<readonly string[]> =>
  (await takeDueTimers(database(), { max, holdSeconds })).map((timer) => timer.timer_id)

/** Lets time pass for timers. */
const later = (seconds: number) =>
  database().query(`update noetl.timer set due_at = due_at - $1 * interval '1 second'`, [seconds])

const clear = async (): Promise<void> => void (await database().query('delete from noetl.timer'))

describe('a timer', () => {
  test('is due after its delay, not before, and says what it was set for', async () => {
    await clear()
    const payload = { command_id: '5:a:6', nested: { z: 1, a: 2 } }
    const [id] = await set({ delayMs: 60_000, payload })
    expect(await take()).toEqual([])
    await later(59)
    expect(await take()).toEqual([])
    await later(2)
    expect(await takeDueTimers(database(), { max: 5, holdSeconds: 30 })).toEqual([
      { timer_id: id, execution_id: expect.any(String), kind: 'command_timeout', payload },
    ])
  })

  test('that was taken and not deleted is due again when its taker had time enough', async () => {
    await clear()
    const ids = await set({})
    expect(await take(10, 30)).toEqual(ids)
    expect(await take()).toEqual([])
    await later(29)
    expect(await take()).toEqual([])
    await later(2)
    expect(await take()).toEqual(ids)
  })

  test('that was deleted never comes again; deleting it twice harms nobody', async () => {
    await clear()
    const [first = '', second = ''] = await set({}, {})
    await take()
    await deleteTimers(database(), [first])
    await deleteTimers(database(), [first, '12345'])
    await deleteTimers(database(), [])
    await later(100)
    expect(await take()).toEqual([second])
  })

  test('is set only by an append that wins', async () => {
    await clear()
    const executionId = nextTestId()
    const timers = [{ timerId: nextTestId(), executionId, delayMs: 0, kind: 'child_ended', payload: {} }]
    const appender = createAppender({ database: database(), sealer })
    expect(await appender.append(anAppend(executionId, 3, [{}], { timers }))).toBe(false)
    expect(await take()).toEqual([])
  })
})

describe('the timers of an execution', () => {
  const ofEvent = (executionId: string, eventId: string | null) =>
    ({ executionId, kind: 'cancel_children', eventId }) as const

  /** Three for one execution, of which two were set with an event each, and one for another. */
  const four = async (): Promise<{ one: string; ids: readonly string[] }> => {
    await clear()
    const [one, other] = [nextTestId(), nextTestId()]
    const rows = [
      { executionId: one, kind: 'cancel_children', payload: { event_id: '5' } },
      { executionId: one, kind: 'cancel_children', payload: { event_id: '6' } },
      { executionId: one, kind: 'follow_parent', payload: {} },
      { executionId: other, kind: 'cancel_children', payload: { event_id: '5' } },
    ]
    const ids: string[] = []
    for (const row of rows) {
      const timerId = nextTestId()
      await insertTimer(database(), { ...row, timerId, delayMs: 0 })
      ids.push(timerId)
    }
    return { one, ids }
  }

  test('are deleted by their kind and the event they were set with', async () => {
    const { one, ids } = await four()
    await deleteTimersOf(database(), ofEvent(one, '5'))
    expect((await take()).toSorted()).toEqual(ids.slice(1).toSorted())
    await later(100)
    await deleteTimersOf(database(), ofEvent(one, null))
    expect((await take()).toSorted()).toEqual(ids.slice(2).toSorted())
  })

  test('are put off by whoever is at it, and come due when nobody is', async () => {
    const { one, ids } = await four()
    await putOffTimersOf(database(), ofEvent(one, '6'), 5000)
    expect((await take()).toSorted()).toEqual(ids.filter((_, nth) => nth !== 1).toSorted())
    await later(6)
    expect(await take()).toEqual([ids[1]])
  })
})

describe('taking timers', () => {
  test('begins with those that wait for longest, and takes no more than asked for', async () => {
    await clear()
    const [late = '', early = '', middle = ''] = await set(
      { delayMs: 3000 },
      { delayMs: 1000 },
      { delayMs: 2000 },
    )
    await later(10)
    expect(new Set(await take(2))).toEqual(new Set([early, middle]))
    expect(await take(2)).toEqual([late])
  })

  test('by many at once hands each timer to one of them', async () => {
    await clear()
    const ids = await set(...Array.from({ length: 200 }, () => ({})))
    const taken = (await Promise.all(Array.from({ length: 8 }, () => take(50)))).flat()
    const rest = await take(200)
    expect([...taken, ...rest].toSorted()).toEqual([...ids].toSorted())
  })
})
