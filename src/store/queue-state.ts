/** What waits in a database, in numbers. Every count runs along an index that holds only what it counts. */
import type { Database } from './database.ts'
import { OPEN_STATES } from './open-work.ts'

export interface QueueState {
  readonly pools: readonly {
    readonly pool: string
    readonly status: string
    readonly count: number
    readonly oldestSeconds: number
  }[]
  readonly running: number
  readonly timers: number
  readonly outbox: number
}

export const readQueueState = async (database: Database): Promise<QueueState> => {
  const [queue, rest] = await Promise.all([
    database.query<QueueState['pools'][number]>({
      name: 'queue-state',
      text: `
        select pool, status, count(*)::int as count, extract(epoch from now() - min(created_at))::float8 as "oldestSeconds"
        from (
          ${OPEN_STATES.map((state) => `select pool, status, created_at from noetl.command where ${state}`).join(' union all ')}) open
        group by pool, status order by count(*) desc`,
    }),
    database.query<Omit<QueueState, 'pools'>>({
      name: 'waiting-state',
      text: `
        select (select count(*)::int from noetl.execution where status = 'RUNNING') as running,
          (select count(*)::int from noetl.timer) as timers,
          (select count(*)::int from noetl.outbox where status in ('PENDING', 'IN_FLIGHT', 'FAILED')) as outbox`,
    }),
  ])
  const [waiting] = rest.rows
  if (!waiting) throw new Error('a count returned no row')
  return { pools: queue.rows, ...waiting }
}
