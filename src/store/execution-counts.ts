/**
 * How many executions there are and how they stand, from their rows and indexes, never from the log.
 *
 * 1. The cost is bounded: counting stops at a limit, above which the numbers are PostgreSQL's estimates.
 */
import type { ExecutionStatus } from '../contract/event.ts'
import { firstSnowflakeAt, SNOWFLAKE_EPOCH_MS } from '../lib/snowflake.ts'
import type { Database } from './database.ts'

/** More than these are estimated. */
const COUNTED = 20_000
/** The newest executions that a trend looks at. */
const TREND_LIMIT = 10_000

export interface ExecutionCounts {
  readonly total: number
  readonly running: number
  readonly failed: number
  readonly cancelled: number
  /** True when there are so many that numbers are estimates. */
  readonly estimated: boolean
}

interface CountRow {
  readonly total: number
  readonly running: number
  readonly failed: number
  readonly cancelled: number
  readonly rows_estimated: number
  readonly statuses: readonly string[] | null
  readonly shares: readonly number[] | null
}

export const countExecutions = async (database: Database): Promise<ExecutionCounts> => {
  const counted = (condition: string): string =>
    `(select count(*) from (select 1 from noetl.execution ${condition} limit $1) n)::int`
  const { rows } = await database.query<CountRow>({
    name: 'count-executions',
    text: `select
       ${counted('')} as total,
       ${counted(`where status = 'RUNNING'`)} as running,
       ${counted(`where status = 'FAILED'`)} as failed,
       ${counted(`where status = 'CANCELLED'`)} as cancelled,
       (select greatest(reltuples, 0) from pg_class where oid = 'noetl.execution'::regclass)::double precision
         as rows_estimated,
       s.most_common_vals::text::text[] as statuses, s.most_common_freqs::double precision[] as shares
     from (select 1) one left join pg_stats s
       on s.schemaname = 'noetl' and s.tablename = 'execution' and s.attname = 'status'`,
    values: [COUNTED],
  })
  const [row] = rows
  if (!row) throw new Error('counting returned no row')
  const estimate = (count: number, share: number): number =>
    count < COUNTED ? count : Math.max(count, Math.round(row.rows_estimated * share))
  return {
    total: estimate(row.total, 1),
    running: estimate(row.running, shareOf(row, 'RUNNING')),
    failed: estimate(row.failed, shareOf(row, 'FAILED')),
    cancelled: estimate(row.cancelled, shareOf(row, 'CANCELLED')),
    estimated: row.total >= COUNTED,
  }
}

const shareOf = ({ statuses, shares }: CountRow, status: ExecutionStatus): number =>
  shares?.[statuses?.indexOf(status) ?? -1] ?? 0

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
    [firstSnowflakeAt(since.getTime()), TREND_LIMIT, SNOWFLAKE_EPOCH_MS],
  )
  return { points, truncated: points.reduce((total, { count }) => total + count, 0) >= TREND_LIMIT }
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
