/**
 * Deleting what is old, by age.
 *
 * 1. Commands go only after they have ended.
 * 2. Events go by whole partitions, and only when no execution that runs has its log there.
 */
import { firstSnowflakeAt } from '../lib/snowflake.ts'
import type { Database } from './database.ts'

/** Commands that ended longer ago than this. */
export const deleteEndedCommands = async (database: Database, olderThanDays: number): Promise<number> => {
  const { rowCount } = await database.query(
    `delete from noetl.command
     where status in ('COMPLETED', 'FAILED', 'CANCELLED') and finished_at < now() - $1 * interval '1 day'`,
    [olderThanDays],
  )
  return rowCount ?? 0
}

/** Processes that were silent for longer than this. */
export const deleteSilentRuntimes = async (database: Database, minutes: number): Promise<number> => {
  const { rowCount } = await database.query(
    `delete from noetl.runtime where heartbeat < now() - $1 * interval '1 minute'`,
    [minutes],
  )
  return rowCount ?? 0
}

export interface DroppedPartition {
  readonly name: string
  readonly events: number
}

/** Drops the partitions of the log that lie wholly before an instant. */
export const dropOldPartitions = async (
  database: Database,
  before: Date,
): Promise<readonly DroppedPartition[]> => {
  const limit = BigInt(firstSnowflakeAt(before.getTime()))
  const { rows } = await database.query<{ name: string; bounds: string }>(
    `select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bounds
     from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'noetl.event'::regclass order by c.relname`,
  )
  const dropped: DroppedPartition[] = []
  for (const { name, bounds } of rows) {
    const [, from, to] = /^FOR VALUES FROM \('?(-?\d+|MINVALUE)'?\) TO \('?(-?\d+)'?\)$/.exec(bounds) ?? []
    if (to === undefined || BigInt(to) > limit) continue
    const events = await dropPartition(database, name, from === 'MINVALUE' ? null : (from ?? null), to)
    if (events !== null) dropped.push({ name, events })
  }
  return dropped
}

const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Null when an execution that runs needs it, or when the log is so busy that appends would have to wait: dropping locks all
 * of it for a moment.
 */
const dropPartition = async (
  database: Database,
  name: string,
  from: string | null,
  to: string,
): Promise<number | null> => {
  const client = await database.connect()
  try {
    await client.query('begin')
    await client.query("set local lock_timeout = '2s'")
    const { rows } = await client.query<{ used: boolean }>(
      `select exists (select 1 from noetl.execution
         where status = 'RUNNING' and not imported and execution_id < $2 and ($1::bigint is null or execution_id >= $1)) as used`,
      [from, to],
    )
    if (rows[0]?.used !== false) return null
    const { rows: counted } = await client.query<{ count: number }>(
      `select count(*)::int as count from noetl."${name}"`,
    )
    await client.query(`drop table noetl."${name}"`)
    await client.query('commit')
    return counted[0]?.count ?? 0
  } catch (error) {
    if ((error as { code?: string }).code === LOCK_NOT_AVAILABLE) return null
    throw error
  } finally {
    await client.query('rollback').catch(() => undefined)
    client.release()
  }
}
