import { afterEach, beforeEach, expect, test } from 'vitest'
import type { TestDatabase } from '../../test/support/postgres.ts'
import { createTestDatabase } from '../../test/support/postgres.ts'
import { anAppend } from '../../test/support/appends.ts'
import { testSealer as sealer } from '../../test/support/server.ts'
import { firstSnowflakeAt } from '../lib/snowflake.ts'
import { createAppender } from './appender.ts'
import type { Database } from './database.ts'
import { openDatabase } from './database.ts'
import { ensurePartitions } from './partitions.ts'

let made: TestDatabase
let database: Database
beforeEach(async () => {
  made = await createTestDatabase()
  database = openDatabase({ url: made.url, maxConnections: 4, onError: () => undefined })
})
afterEach(async () => {
  await database.end()
  await made.drop()
})

const partitions = async (): Promise<readonly string[]> => {
  const { rows } = await database.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'noetl.event'::regclass order by 1`,
  )
  return rows.map((row) => row.name)
}

const NOVEMBER = new Date('2026-11-15T12:00:00Z')

test('this month and the next three are made ahead, over the turn of the year', async () => {
  expect(await ensurePartitions(database, NOVEMBER)).toBe(4)
  expect(await partitions()).toEqual([
    'event_2026_11',
    'event_2026_12',
    'event_2027_01',
    'event_2027_02',
    'event_default',
  ])
})

test('what exists is left alone, what is missing is added', async () => {
  await ensurePartitions(database, NOVEMBER)
  expect(await ensurePartitions(database, NOVEMBER)).toBe(0)
  expect(await ensurePartitions(database, new Date('2026-12-31T23:59:59Z'))).toBe(1)
})

test('servers that look at once make them once', async () => {
  await Promise.all(Array.from({ length: 4 }, () => ensurePartitions(database, NOVEMBER)))
  expect(await partitions()).toHaveLength(5)
})

test('events lie in the month of their execution, in the default partition when there is none', async () => {
  await ensurePartitions(database, NOVEMBER)
  const appender = createAppender({ database, sealer })
  const instants = [
    '2026-10-31T23:59:59.999Z',
    '2026-11-01T00:00:00Z',
    '2026-11-30T23:59:59.999Z',
    '2026-12-01T00:00:00Z',
    '2027-03-01T00:00:00Z',
  ]
  const ids = instants.map((instant) => firstSnowflakeAt(Date.parse(instant)))
  await Promise.all(ids.map((id) => appender.append(anAppend(id, 0, [{}]))))
  const { rows } = await database.query<{ name: string }>(
    'select c.relname as name from noetl.event e join pg_class c on c.oid = e.tableoid order by execution_id',
  )
  expect(rows.map((row) => row.name)).toEqual([
    'event_default',
    'event_2026_11',
    'event_2026_11',
    'event_2026_12',
    'event_default',
  ])
})

test('a month whose events already lie in the default partition stays there and holds up nothing', async () => {
  const early = firstSnowflakeAt(Date.parse('2026-12-24T00:00:00Z'))
  await createAppender({ database, sealer }).append(anAppend(early, 0, [{}]))
  expect(await ensurePartitions(database, NOVEMBER)).toBe(3)
  expect(await partitions()).toEqual(['event_2026_11', 'event_2027_01', 'event_2027_02', 'event_default'])
})
