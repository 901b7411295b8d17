/** The list over several shards. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anAppend, nextTestId } from '../../test/support/appends.ts'
import type { TestDatabase } from '../../test/support/postgres.ts'
import { createTestDatabase } from '../../test/support/postgres.ts'
import { testSealer as sealer } from '../../test/support/server.ts'
import { createAppender } from '../store/appender.ts'
import type { Database } from '../store/database.ts'
import { openDatabase } from '../store/database.ts'
import type { ExecutionFilter } from '../store/execution-list.ts'
import type { Shards } from '../store/shards.ts'
import { createShards } from '../store/shards.ts'
import { pageOfExecutions } from './list-executions.ts'

let made: readonly TestDatabase[]
let databases: readonly Database[]
let shards: Shards
/** Newest first. */
const ids = Array.from({ length: 40 }, () => nextTestId()).toReversed()

beforeAll(async () => {
  made = await Promise.all([createTestDatabase(), createTestDatabase(), createTestDatabase()])
  databases = made.map(({ url }) => openDatabase({ url, maxConnections: 2, onError: () => undefined }))
  shards = createShards(databases)
  const appenders = new Map(databases.map((database) => [database, createAppender({ database, sealer })]))
  for (const [index, id] of ids.entries()) {
    const execution = { path: index % 2 === 0 ? 'even' : 'odd' }
    await appenders.get(shards.of(id))?.append(anAppend(id, 0, [{}], { execution }))
  }
})

afterAll(async () => {
  await Promise.all(databases.map((database) => database.end()))
  await Promise.all(made.map((database) => database.drop()))
})

const page = async (filter: Partial<ExecutionFilter>) => {
  const { rows, nextCursor } = await pageOfExecutions(shards, { limit: 10, offset: 0, ...filter })
  return { ids: rows.map((row) => row.execution_id), nextCursor }
}

test('every shard has some of the executions', () => {
  for (const database of databases) expect(ids.some((id) => shards.of(id) === database)).toBe(true)
})

test('pages follow each other by cursor until there is no more (1)', async () => {
  const seen: string[] = []
  let before: string | null = null
  do {
    const found: { ids: readonly string[]; nextCursor: string | null } = await page({ before, limit: 7 })
    seen.push(...found.ids)
    before = found.nextCursor
  } while (before !== null)
  expect(seen).toEqual(ids)
})

test('a page by offset is the same part of the whole (2)', async () => {
  expect(await page({ offset: 13 })).toEqual({ ids: ids.slice(13, 23), nextCursor: ids[22] })
  expect(await page({ offset: 35 })).toEqual({ ids: ids.slice(35), nextCursor: null })
  expect(await page({ offset: 30 })).toEqual({ ids: ids.slice(30), nextCursor: null })
  expect(await page({ offset: 1000 })).toEqual({ ids: [], nextCursor: null })
})

test('filters apply to all shards before the page is cut', async () => {
  const even = ids.filter((_, index) => index % 2 === 0)
  expect(await page({ path: 'EVEN', offset: 5, limit: 3 })).toEqual({
    ids: even.slice(5, 8),
    nextCursor: even[7],
  })
  expect(await page({ status: 'FAILED' })).toEqual({ ids: [], nextCursor: null })
})

test('an empty page has no next one', async () => {
  expect(await page({ limit: 0 })).toEqual({ ids: [], nextCursor: null })
})
