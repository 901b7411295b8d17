/**
 * How long looking takes when much is stored: 100,000 executions with 1,000,000 events. Every question is asked over
 * HTTP, one after the other, and beside it a bare client asks PostgreSQL for the same rows in the plainest way. The last
 * column is the processor time of one question, all in all: client, server and database.
 */
import pg from 'pg'
import { openDatabase } from '../src/store/database.ts'
import type { Past } from '../test/support/many-executions.ts'
import { EVENTS_EACH, pastCatalogId, pastId, pastPath, writePast } from '../test/support/many-executions.ts'
import { createProcessorMeter } from './processor-time.ts'
import { startProduct } from './product.ts'

const EXECUTIONS = Number(process.env['BENCH_EXECUTIONS'] ?? 100_000)
const TIMES = Number(process.env['BENCH_TIMES'] ?? 200)
const WARM_UP = 20
const PLAYBOOKS = 500
const LIMIT_MS = 20

const past: Past = { executions: EXECUTIONS, playbooks: PLAYBOOKS, now: Date.now() }
const id = (nth: number): string => pastId(past, nth)
const deep = id(EXECUTIONS / 2)
const rare = id(EXECUTIONS / 200)
const anywhere = (index: number): string => id(1 + ((index * 7919) % EXECUTIONS))
const instant = (nth: number): string => new Date(past.now - (EXECUTIONS - nth) * 1000).toISOString()

interface Question {
  readonly name: string
  readonly path: (index: number) => string
  /** The same rows for a bare client. */
  readonly text: string
  readonly values: (index: number) => readonly unknown[]
}

const list = (name: string, query: string, where = 'true', values: readonly unknown[] = []): Question => ({
  name: `list: ${name}`,
  path: () => `/api/executions?limit=50${query === '' ? '' : `&${query}`}`,
  text: `select * from noetl.execution where ${where} order by execution_id desc limit 50`,
  values: () => values,
})

const one = (name: string, tail: string, text: string): Question => ({
  name,
  path: (index) => `/api/executions/${anywhere(index)}${tail}`,
  text,
  values: (index) => [anywhere(index)],
})

const ROW = 'select * from noetl.execution where execution_id = $1'
const EVENTS = 'select * from noetl.event where execution_id = $1 order by position'

const QUESTIONS: readonly Question[] = [
  list('newest', ''),
  list('cursor in the middle', `cursor=${deep}`, 'execution_id < $1', [deep]),
  list('offset 10,000', 'offset=10000'),
  list('status COMPLETED', 'status=COMPLETED', 'status = $1', ['COMPLETED']),
  list('status RUNNING', 'status=RUNNING', 'status = $1', ['RUNNING']),
  list('status FAILED, all old', 'status=FAILED', 'status = $1', ['FAILED']),
  list('status FAILED, cursor', `status=FAILED&cursor=${rare}`, 'status = $1 and execution_id < $2', [
    'FAILED',
    rare,
  ]),
  list('path, one playbook', `path=${pastPath(7)}`, 'path = $1', [pastPath(7)]),
  list('path, all old', 'path=forgotten', 'path = $1', ['old/Forgotten']),
  list('path, a seventh of all', 'path=team-3', 'path like $1', ['team-3/%']),
  list('path, everything', 'path=o', 'path like $1', ['%o%']),
  list('path, everything, cursor', `path=o&cursor=${deep}`, 'path like $1 and execution_id < $2', [
    '%o%',
    deep,
  ]),
  list('path, nothing', 'path=nowhere', 'path like $1', ['%nowhere%']),
  list('path and status', 'path=forgotten&status=CANCELLED', 'path = $1 and status = $2', [
    'old/Forgotten',
    'CANCELLED',
  ]),
  list('catalog entry', `catalog_id=${pastCatalogId(7, 2)}`, 'catalog_id = $1', [pastCatalogId(7, 2)]),
  list('children', `parent_execution_id=${id(1001)}`, 'parent_execution_id = $1', [id(1001)]),
  list('started before', `started_before=${instant(500)}`, 'started_at < $1', [instant(500)]),
  list(
    'started within ten minutes',
    `started_after=${instant(50_000)}&started_before=${instant(50_600)}`,
    'started_at between $1 and $2',
    [instant(50_000), instant(50_600)],
  ),
  list('search by id', `search=${id(777).slice(0, 13)}`, 'execution_id::text like $1', [
    `${id(777).slice(0, 13)}%`,
  ]),
  one('detail', '', EVENTS),
  one('detail, page 2 of 4', '?page=2&page_size=4', `${EVENTS} desc limit 4 offset 4`),
  one('status', '/status', ROW),
  one('cancellation check', '/cancellation-check', ROW),
  one('events, a page', '/events?after=2&limit=5', EVENTS),
  one('events, newest first', '/events?order=desc&limit=5', `${EVENTS} desc limit 5`),
  one('events of a type', '/events?event_type=command.completed', EVENTS),
  {
    name: 'dashboard stats',
    path: () => '/api/dashboard/stats',
    text: 'select status, count(*) from noetl.execution group by status',
    values: () => [],
  },
  {
    name: 'dashboard widgets',
    path: () => '/api/dashboard/widgets',
    text: 'select * from noetl.execution order by execution_id desc limit 10',
    values: () => [],
  },
]

const timesOf = async (ask: (index: number) => Promise<void>): Promise<readonly number[]> => {
  for (let index = 0; index < WARM_UP; index += 1) await ask(index)
  const times: number[] = []
  for (let index = 0; index < TIMES; index += 1) {
    const start = performance.now()
    await ask(index)
    times.push(performance.now() - start)
  }
  return times.sort((a, b) => a - b)
}

const share = (times: readonly number[], part: number): number => times[Math.floor(times.length * part)] ?? 0

const measure = async (url: string, client: pg.Client): Promise<number> => {
  let slow = 0
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const processor = createProcessorMeter(rows[0]?.pid ?? 0)
  console.log(`${'ms'.padEnd(36)}   least     p50     p95    bare: least     p50     p95   processor`)
  for (const { name, path, text, values } of QUESTIONS) {
    const before = processor?.() ?? 0
    const asked = await timesOf(async (index) => {
      const answer = await fetch(`${url}${path(index)}`)
      if (!answer.ok) throw new Error(`${path(index)}: ${await answer.text()}`)
      await answer.arrayBuffer()
    })
    const used = ((processor?.() ?? 0) - before) / (TIMES + WARM_UP)
    const bare = await timesOf(async (index) => void (await client.query(text, [...values(index)])))
    const columns = (times: readonly number[]): string =>
      [0, 0.5, 0.95].map((part) => share(times, part).toFixed(2).padStart(8)).join('')
    if (share(asked, 0.95) > LIMIT_MS) slow += 1
    console.log(
      `${name.padEnd(36)}${columns(asked)}       ${columns(bare)}    ${used.toFixed(2).padStart(8)}`,
    )
  }
  return slow
}

const product = await startProduct()
try {
  const { databaseUrl, url } = product.stack
  const database = openDatabase({ url: databaseUrl, maxConnections: 1, onError: console.error })
  const begun = performance.now()
  await writePast(database, past)
  await database.end()
  const seconds = ((performance.now() - begun) / 1000).toFixed(0)
  console.log(`${EXECUTIONS} executions and ${EXECUTIONS * EVENTS_EACH} events written in ${seconds} s\n`)
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const slow = await measure(url, client)
  await client.end()
  console.log(slow === 0 ? `\nall within ${LIMIT_MS} ms at p95` : `\n${slow} above ${LIMIT_MS} ms at p95`)
} finally {
  await product.stop()
}
