/**
 * What a lease costs while thousands of commands wait for something that the asking worker has not, as a ratio to the same
 * lease from a pool without them. The two are measured in turns, so that whatever else the machine does hits both.
 */
import { leaseCommands } from '../src/store/commands.ts'
import type { Database } from '../src/store/database.ts'
import { openDatabase } from '../src/store/database.ts'
import { startProduct } from './product.ts'

const WAITING = Number(process.env['BENCH_WAITING'] ?? 10_000)
const TIMES = Number(process.env['BENCH_TIMES'] ?? 300)
const WARM_UP = 50
const POOLS = ['beside', 'alone'] as const

const WORKERS: Readonly<Record<string, readonly string[]>> = {
  'a worker that has nothing special': [],
  'a worker that has something else': ['browser'],
}

let lastId = 0

/** The statement that normally writes commands needs whole executions around them. */
const enqueue = async (
  database: Database,
  pool: string,
  count: number,
  requires: readonly string[] | null,
): Promise<void> => {
  await database.query(
    `insert into noetl.command (event_id, execution_id, position, command_id, step, tool_kind, pool, status, requires)
     select n, n, 1, n::text, 'start', 'noop', $4, 'PENDING', $3::text[]
     from generate_series($1::int + 1, $1::int + $2::int) n`,
    [lastId, count, requires, pool],
  )
  lastId += count
}

const median = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0

const leaseOne = async (
  database: Database,
  pool: string,
  capabilities: readonly string[],
): Promise<number> => {
  await enqueue(database, pool, 1, capabilities.length > 0 ? capabilities : null)
  const start = performance.now()
  const leased = await leaseCommands(database, {
    pool,
    workerId: 'w',
    max: 1,
    leaseSeconds: 60,
    capabilities,
  })
  if (leased.length !== 1) throw new Error('the command that was meant was not leased')
  return performance.now() - start
}

const measure = async (database: Database, capabilities: readonly string[]): Promise<readonly number[]> => {
  const times: number[][] = POOLS.map(() => [])
  for (let round = 0; round < WARM_UP + TIMES; round += 1)
    for (const [index, pool] of POOLS.entries()) {
      const time = await leaseOne(database, pool, capabilities)
      if (round >= WARM_UP) times[index]?.push(time)
    }
  return times.map(median)
}

const product = await startProduct()
const database = openDatabase({
  url: product.stack.databaseUrl,
  maxConnections: 1,
  onError: () => undefined,
})
await enqueue(database, 'beside', WAITING, ['gpu'])
await database.query('vacuum analyze noetl.command')
console.log(`one lease beside ${WAITING} commands that wait for something else, and without them`)
for (const [worker, capabilities] of Object.entries(WORKERS)) {
  const [beside = 0, alone = 0] = await measure(database, capabilities)
  const ratio = (beside / alone).toFixed(2)
  console.log(`${worker}: ${beside.toFixed(2)} ms, ${alone.toFixed(2)} ms without; ratio ${ratio}`)
}
await database.end()
await product.stop()
