/** Examples that keep data in PostgreSQL and look at it with DuckDB. */
import { readFileSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Shop } from '../../examples/shop-api.ts'
import { startShop } from '../../examples/shop-api.ts'
import type { Database } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/database.ts'
import { useExamples } from './example-run.ts'

const { credential, product, result, run } = useExamples()

let shop: Shop
let database: Database
beforeAll(async () => {
  shop = await startShop()
  const url = product.databaseUrl()
  database = openDatabase({ url, maxConnections: 2, onError: () => undefined })
  await credential({ name: 'examples_db', type: 'postgres', data: { connection_string: url } })
})
afterAll(() => Promise.all([shop.close(), database.end()]))

const rowsOf = async (query: string): Promise<readonly unknown[]> =>
  (await database.query<Record<string, unknown>>(query)).rows

test('work-queue: every job is claimed once and done', async () => {
  expect(await result('work-queue')).toEqual({ rows: 10, claims: 3, failed: 0 })
  const done =
    "select count(*)::int as jobs, sum(answer)::int as sum from noetl_examples.jobs where state = 'done'"
  expect(await rowsOf(done)).toEqual([{ jobs: 10, sum: 385 }])
})

test('work-queue: two runs share the table, and no row is worked on twice', async () => {
  const [one, other] = await Promise.all([run('work-queue', { jobs: 20 }), run('work-queue', { jobs: 20 })])
  const counts = [one, other].map(({ data }) => (data('work') as { rows: number }).rows)
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(40)
  expect(await rowsOf("select count(*)::int as n from noetl_examples.jobs where state = 'done'")).toEqual([
    { n: 50 },
  ])
})

test('transfer: products arrive in the table, and a second run writes over them', async () => {
  const answer = { copied: 23, in_table: 23, highest_price: 32 }
  expect(await result('transfer', { api: shop.url })).toEqual(answer)
  await database.query("update noetl_examples.products set price = 99 where code = 'P01'")
  expect(await result('transfer', { api: shop.url })).toEqual(answer)
  expect(await rowsOf('select * from noetl_examples.products order by code limit 1')).toEqual([
    { code: 'P01', price: 10 },
  ])
})

test('etl-report: what came from the web is in the database, in the answer and in the file', async () => {
  const { status, error, result: answer } = await run('etl-report', { api: shop.url })
  expect([status, error]).toEqual(['COMPLETED', null])
  const { file, cities } = answer as { file: string; cities: unknown }
  expect(cities).toEqual([
    { city: 'Rome', orders: 15, revenue: 1685 },
    { city: 'Oslo', orders: 15, revenue: 1595 },
    { city: 'Lima', orders: 15, revenue: 1440 },
  ])
  expect(readFileSync(file, 'utf8')).toBe('city,orders,revenue\nRome,15,1685\nOslo,15,1595\nLima,15,1440\n')
  rmSync(file)
  expect(await rowsOf('select count(*)::int as n from noetl_examples.orders')).toEqual([{ n: 45 }])
})

test('incremental-load: the first run loads everything, the next ones only what is new', async () => {
  const api = shop.url
  const load = (): Promise<unknown> => result('incremental-load', { api })
  expect(await load()).toEqual({ loaded: 45, watermark: '2026-01-02T21:00:00Z' })
  expect(await load()).toEqual({ loaded: 0, watermark: '2026-01-02T21:00:00Z' })
  await fetch(`${api}/orders`, { method: 'POST' })
  expect(await load()).toEqual({ loaded: 1, watermark: '2026-01-02T22:00:00Z' })
  expect(await rowsOf('select count(*)::int as n from noetl_examples.shop_orders')).toEqual([{ n: 46 }])
})
