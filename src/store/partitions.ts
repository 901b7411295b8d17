/**
 * Month partitions of the event table, made before they are needed. Ids carry their time, so months are ranges.
 * Events of a month without a partition lie in the default one; a month that has some there already (a clock was
 * wrong once) gets no partition any more, which costs nothing but tidiness.
 */
import type { PoolClient } from 'pg'
import { firstSnowflakeAt } from '../lib/snowflake.ts'
import type { Database } from './database.ts'

const MONTHS_AHEAD = 3
const LOCK_KEY = 7_203_312

interface Partition {
  readonly name: string
  readonly from: string
  readonly to: string
}

const partitionsFrom = (now: Date): readonly Partition[] =>
  Array.from({ length: MONTHS_AHEAD + 1 }, (_, offset) => {
    const start = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1)
    const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset + 1, 1)
    const [year, month] = new Date(start).toISOString().split('-')
    return { name: `event_${year}_${month}`, from: firstSnowflakeAt(start), to: firstSnowflakeAt(end) }
  })

/** Creates the partitions of this month and the next ones that are missing; answers how many. */
export const ensurePartitions = async (database: Database, now: Date): Promise<number> => {
  const wanted = partitionsFrom(now)
  const { rows } = await database.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'noetl.event'::regclass`,
  )
  const existing = new Set(rows.map((row) => row.name))
  const missing = wanted.filter(({ name }) => !existing.has(name))
  if (missing.length === 0) return 0
  const client = await database.connect()
  try {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1)', [LOCK_KEY])
    let created = 0
    for (const partition of missing) if (await createPartition(client, partition)) created += 1
    await client.query('commit')
    return created
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

const ROWS_IN_THE_WAY = '23514'

const createPartition = async (client: PoolClient, { name, from, to }: Partition): Promise<boolean> => {
  await client.query('savepoint one')
  try {
    await client.query(
      `create table if not exists noetl.${name} partition of noetl.event for values from (${from}) to (${to})`,
    )
    return true
  } catch (error) {
    if ((error as { code?: string }).code !== ROWS_IN_THE_WAY) throw error
    await client.query('rollback to savepoint one')
    return false
  }
}
