/**
 * How many executions there are and how they stand, from their rows and indexes, never from the log.
 *
 * 1. The cost is bounded: counting stops at a limit, above which the number of all executions is PostgreSQL's estimate.
 */
import type { ExecutionStatus } from '../contract/event.ts'
import { firstSnowflakeAt, SNOWFLAKE_EPOCH_MS } from '../lib/snowflake.ts'
import type { Database } from './database.ts'

/** Of all executions; more are estimated. */
const TOTAL_LIMIT = 20_000
/** Of those that run or ended badly, which are few and have indexes of their own. */
const EXCEPTION_LIMIT = 100_000

export interface ExecutionCounts {
  readonly total: number
  readonly running: number
  readonly failed: number
  readonly cancelled: number
  /** True when there are so many that the total is an estimate. */
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
       (select count(*) from (select 1 from noetl.execution where status = 'RUNNING' limit $2) b)::int as running,
       (select count(*) from (select 1 from noetl.execution where status = 'FAILED' limit $2) c)::int as failed,
       (select count(*) from (select 1 from noetl.execution where status = 'CANCELLED' limit $2) d)::int as cancelled,
       (select greatest(reltuples, 0) from pg_class where oid = 'noetl.execution'::regclass)::double precision as estimate`,
    [TOTAL_LIMIT, EXCEPTION_LIMIT],
  )
  const [row] = rows
  if (!row) throw new Error('counting returned no row')
  const estimated = row.total >= TOTAL_LIMIT
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
  /** Hours since 1970. */
  readonly hour: number
  readonly status: ExecutionStatus
  readonly count: number
}

export interface Trend {
  readonly points: readonly TrendPoint[]
  /** True when only the newest executions were counted. */
  readonly truncated: boolean
}

/** Executions by the hour of their start. Ids carry their time, so this is a range of the primary key. */
export const countByHour = async (database: Database, since: Date): Promise<Trend> => {
  const { rows: points } = await database.query<TrendPoint>(
    `select (((execution_id >> 22) + $3::bigint) / 3600000)::int as hour, status, count(*)::int as count
     from (select execution_id, status from noetl.execution where execution_id >= $1 order by execution_id desc limit $2) e
     group by 1, 2`,
    [firstSnowflakeAt(since.getTime()), TOTAL_LIMIT, SNOWFLAKE_EPOCH_MS],
  )
  return { points, truncated: points.reduce((total, { count }) => total + count, 0) >= TOTAL_LIMIT }
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
