/** Numbers for an overview. Their cost does not grow with the log: they come from the rows of executions. */
import type { FastifyInstance } from 'fastify'
import { DashboardStats, DashboardWidgets } from '../../contract/api-executions.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import type { TrendPoint } from '../../store/execution-counts.ts'
import { countByHour, countCluster, countExecutions } from '../../store/execution-counts.ts'
import type { ExecutionRow } from '../../store/executions.ts'
import { STALE_SECONDS } from '../../store/runtimes.ts'
import type { ServerContext } from '../app.ts'
import { pageOfExecutions } from '../list-executions.ts'
import { route } from '../route.ts'

const tag = 'dashboard'
const HOUR_MS = 3_600_000
const TREND_HOURS = 24
const RECENT = 10

export const dashboardRoutes = (app: FastifyInstance, context: ServerContext): void => {
  statsRoute(app, context)
  widgetsRoute(app, context)
}

const statsRoute = (app: FastifyInstance, { core: { shards } }: ServerContext): void =>
  route(
    app,
    {
      method: 'GET',
      url: '/api/dashboard/stats',
      name: 'getDashboardStats',
      tag,
      access: 'viewer',
      summary: 'Count executions, playbooks and workers',
      description: 'Above 20,000 executions the numbers are estimates.',
      answer: DashboardStats,
    },
    async () => {
      const [counts, { playbooks, workers }] = await Promise.all([
        Promise.all(shards.all.map(countExecutions)),
        countCluster(shards.cluster, STALE_SECONDS),
      ])
      const sum = (key: 'total' | 'running' | 'failed' | 'cancelled'): number =>
        counts.reduce((total, count) => total + count[key], 0)
      const [total, running, failed, cancelled] = [
        sum('total'),
        sum('running'),
        sum('failed'),
        sum('cancelled'),
      ]
      const stats = {
        total_executions: total,
        successful_executions: Math.max(0, total - running - failed - cancelled),
        failed_executions: failed,
        cancelled_executions: cancelled,
        running_executions: running,
        total_playbooks: playbooks,
        total_workers: workers,
      }
      return {
        status: 'ok',
        stats,
        ...stats,
        active_workflows: running,
        estimated: counts.some(({ estimated }) => estimated),
      }
    },
  )

const widgetsRoute = (app: FastifyInstance, { core: { shards } }: ServerContext): void =>
  route(
    app,
    {
      method: 'GET',
      url: '/api/dashboard/widgets',
      name: 'getDashboardWidgets',
      tag,
      access: 'viewer',
      summary: 'The trend of the last day and the newest executions',
      answer: DashboardWidgets,
    },
    async () => {
      const thisHour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS
      const since = new Date(thisHour - (TREND_HOURS - 1) * HOUR_MS)
      const [trends, recent] = await Promise.all([
        Promise.all(shards.all.map((database) => countByHour(database, since))),
        pageOfExecutions(shards, { limit: RECENT, offset: 0 }),
      ])
      return {
        status: 'ok',
        widgets: [
          {
            id: 'execution-trend',
            type: 'chart',
            title: 'Executions of the last 24 hours',
            data: trendData(
              trends.flatMap(({ points }) => points),
              since,
            ),
            config: { truncated: trends.some(({ truncated }) => truncated) },
          },
          {
            id: 'recent-executions',
            type: 'table',
            title: 'Recent executions',
            data: recent.rows.map(recentItem),
            config: {},
          },
        ],
      }
    },
  )

/** One entry per hour, also for hours in which nothing started. */
const trendData = (points: readonly TrendPoint[], since: Date) =>
  Array.from({ length: TREND_HOURS }, (_, index) => {
    const hour = since.getTime() / HOUR_MS + index
    const counts = { RUNNING: 0, COMPLETED: 0, FAILED: 0, CANCELLED: 0 }
    for (const point of points) if (point.hour === hour) counts[point.status] += point.count
    return {
      hour: new Date(hour * HOUR_MS).toISOString(),
      running: counts.RUNNING,
      completed: counts.COMPLETED,
      failed: counts.FAILED,
      cancelled: counts.CANCELLED,
    }
  })

const recentItem = (row: ExecutionRow) => ({
  execution_id: rawInteger(row.execution_id),
  path: row.path,
  status: row.status,
  started_at: row.started_at,
  completed_at: row.finished_at,
})
