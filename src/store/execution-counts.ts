/**
 * How many executions there are and how they stand, from their rows and indexes, never from the log.
 *
 * 1. The cost is bounded: counting stops at a limit, above which the number of all executions is PostgreSQL's estimate.
 */
import type { ExecutionStatus } from '../contract/event.ts'
import { firstSnowflakeAt } from '../lib/snowflake.ts'
import type { Database } from './database.ts'

const COUNT_LIMIT = 100_000

export interface ExecutionCounts {
  readonly total: number
  readonly running: number
  readonly failed: number
  readonly cancelled: number
  /** True when the limit was reached: the total is an estimate, the others are lower bounds. */
  readonly estimated: boolean
}

export const countExecutions = async (database: Database): Promise<ExecutionCounts> => {
  const { rows } = await database.query<{
    total: number
    running: number
    failed: number
    cancelled: number
    estimate: number
  }>(
    `select
       (select count(*) from (select 1 from noetl.execution limit $1) a)::int as total,
       (select count(*) from (select 1 from noetl.execution where status = 'RUNNING' limit $1) b)::int as running,
       (select count(*) from (select 1 from noetl.execution where status = 'FAILED' limit $1) c)::int as failed,
       (select count(*) from (select 1 from noetl.execution where status = 'CANCELLED' limit $1) d)::int as cancelled,
       (select greatest(reltuples, 0) from pg_class where oid = 'noetl.execution'::regclass)::double precision as estimate`,
    [COUNT_LIMIT],
  )
  const [row] = rows
  if (!row) throw new Error('counting returned no row')
  const estimated = row.total >= COUNT_LIMIT
  const { running, failed, cancelled } = row
  return {
    total: estimated ? Math.max(row.total, row.estimate) : row.total,
    running,
    failed,
    cancelled,
    estimated,
  }
}

export interface TrendPoint {
  /** Start of the hour. */
  readonly hour: string
  readonly status: ExecutionStatus
  readonly count: number
}

/** Executions of the last hours by the hour of their start. Ids carry their time, so this is a range of the primary key. */
export const countByHour = async (database: Database, since: Date): Promise<readonly TrendPoint[]> => {
  const { rows } = await database.query<TrendPoint>(
    `select date_trunc('hour', started_at) as hour, status, count(*)::int as count
     from (select started_at, status from noetl.execution where execution_id >= $1 order by execution_id desc limit $2) e
     group by 1, 2 order by 1, 2`,
    [firstSnowflakeAt(since.getTime()), COUNT_LIMIT],
  )
  return rows
}

export interface ClusterCounts {
  readonly playbooks: number
  readonly workers: number
}

/** Playbooks by path, and worker pools that were heard of lately. */
export const countCluster = async (database: Database, staleSeconds: number): Promise<ClusterCounts> => {
  const { rows } = await database.query<ClusterCounts>(
    `select
       (select count(distinct path) from noetl.catalog where kind = 'playbook' and archived_at is null)::int as playbooks,
       (select count(*) from noetl.runtime where kind = 'worker_pool' and heartbeat >= now() - $1 * interval '1 second')::int as workers`,
    [staleSeconds],
  )
  return rows[0] ?? { playbooks: 0, workers: 0 }
}
