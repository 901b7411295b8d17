import { expect, test } from 'vitest'
import { useDatabase } from '../../test/support/database.ts'
import { claimDedupKey, deleteExpiredDedupKeys } from './dedup.ts'

const database = useDatabase()

const claim = (key: string, windowSeconds: number, executionId: string): Promise<string> =>
  claimDedupKey(database(), { scope: '0', key, windowSeconds }, executionId)

/** Lets time pass for a key. */
const later = (key: string, seconds: number) =>
  database().query(
    `update noetl.execution_dedup
     set seen_at = seen_at - $2 * interval '1 second', expires_at = expires_at - $2 * interval '1 second'
     where key = $1`,
    [key, seconds],
  )

const keys = async (): Promise<readonly string[]> => {
  const { rows } = await database().query<{ key: string }>(
    'select key from noetl.execution_dedup order by key',
  )
  return rows.map(({ key }) => key)
}

const prune = (max = 100): Promise<number> => deleteExpiredDedupKeys(database(), max)

const clear = () => database().query('delete from noetl.execution_dedup')

test('a key stands for its execution as long as its window is open (1)', async () => {
  await clear()
  expect(await claim('a', 60, '1')).toBe('1')
  await later('a', 50)
  expect(await claim('a', 60, '2')).toBe('1')
  await later('a', 20)
  expect(await claim('a', 60, '3')).toBe('3')
})

test('only keys whose window is over are forgotten, the oldest first (2)', async () => {
  await clear()
  for (const key of ['old', 'older', 'open']) await claim(key, 60, '1')
  await later('old', 61)
  await later('older', 70)
  await later('open', 50)
  expect(await prune(1)).toBe(1)
  expect(await keys()).toEqual(['old', 'open'])
  expect([await prune(), await prune()]).toEqual([1, 0])
  expect(await keys()).toEqual(['open'])
})

test('a key is kept for the longest window that was given for it (2)', async () => {
  await clear()
  await claim('a', 60, '1')
  await claim('a', 600, '2')
  await claim('a', 10, '3')
  await later('a', 599)
  expect(await prune()).toBe(0)
  await later('a', 2)
  expect(await prune()).toBe(1)
})

test('a key that is taken again begins a new window (2)', async () => {
  await clear()
  await claim('a', 60, '1')
  await later('a', 61)
  expect(await claim('a', 30, '2')).toBe('2')
  expect(await prune()).toBe(0)
  await later('a', 31)
  expect(await prune()).toBe(1)
})
