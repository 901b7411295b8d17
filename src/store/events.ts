/** Reading the log of an execution. Writing is append-statement.ts and nothing else. */
import type { EventRecord } from '../contract/event.ts'
import type { Sealer } from '../lib/sealer.ts'
import type { Database } from './database.ts'
import type { EventRow } from './event-row.ts'
import { EVENT_COLUMNS, fromEventRow } from './event-row.ts'

/** Events after a position, oldest first. With a sealer they are as they were written. */
export const readEvents = async (
  database: Database,
  executionId: string,
  {
    after = 0,
    limit = 10_000,
    sealer = null,
  }: { after?: number; limit?: number; sealer?: Sealer | null } = {},
): Promise<readonly EventRecord[]> => {
  const { rows } = await database.query<EventRow>({
    name: 'read-events',
    text: `select ${EVENT_COLUMNS} from noetl.event where execution_id = $1 and position > $2 order by position limit $3`,
    values: [executionId, after, limit],
  })
  return rows.map((row) => fromEventRow(row, sealer))
}

export interface EventRange {
  /** Positions above this one. */
  readonly after: number
  /** Up to and including this one. */
  readonly upTo: number
  /** Null for all types. */
  readonly types: readonly string[] | null
  readonly newestFirst: boolean
  readonly limit: number
  readonly offset?: number
}

/** Events of a stretch of the log, without what is sealed. The stretch bounds the cost, also for a rare type. */
export const readEventRange = async (
  database: Database,
  executionId: string,
  { after, upTo, types, newestFirst, limit, offset = 0 }: EventRange,
): Promise<readonly EventRecord[]> => {
  const order = newestFirst ? 'desc' : 'asc'
  const { rows } = await database.query<EventRow>({
    name: `read-event-range-${order}${types === null ? '' : '-of-types'}`,
    text: `select ${EVENT_COLUMNS} from noetl.event where execution_id = $1 and position > $2 and position <= $3
      ${types === null ? '' : 'and event_type = any ($6::text[])'} order by position ${order} limit $4 offset $5`,
    values: [executionId, after, upTo, limit, offset, ...(types === null ? [] : [types])],
  })
  return rows.map((row) => fromEventRow(row, null))
}

/** How many events of some types there are in a stretch of the log. */
export const countEvents = async (
  database: Database,
  executionId: string,
  { after, upTo, types }: Pick<EventRange, 'after' | 'upTo'> & { readonly types: readonly string[] },
): Promise<number> => {
  const { rows } = await database.query<{ count: number }>({
    name: 'count-events',
    text: `select count(*)::int as count from noetl.event
      where execution_id = $1 and position > $2 and position <= $3 and event_type = any ($4::text[])`,
    values: [executionId, after, upTo, types],
  })
  return rows[0]?.count ?? 0
}

/** Names of the steps that ended well within a stretch of the log, in the order of their first end. */
export const readCompletedSteps = async (
  database: Database,
  executionId: string,
  { after, upTo }: Pick<EventRange, 'after' | 'upTo'>,
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ node_name: string }>({
    name: 'read-completed-steps',
    text: `select node_name from noetl.event where execution_id = $1 and position > $2 and position <= $3
      and event_type = 'step.exit' and status = 'COMPLETED' and node_name is not null
      group by node_name order by min(position)`,
    values: [executionId, after, upTo],
  })
  return rows.map((row) => row.node_name)
}

export const readEventAt = async (
  database: Database,
  executionId: string,
  position: number,
  sealer: Sealer | null,
): Promise<EventRecord | null> => {
  const { rows } = await database.query<EventRow>({
    name: 'read-event-at',
    text: `select ${EVENT_COLUMNS} from noetl.event where execution_id = $1 and position = $2`,
    values: [executionId, position],
  })
  return rows[0] ? fromEventRow(rows[0], sealer) : null
}

/** Whether a sender has given this id before. */
export const hasEvent = async (
  database: Database,
  executionId: string,
  eventId: string,
): Promise<boolean> => {
  const { rows } = await database.query({
    name: 'has-event',
    text: 'select 1 from noetl.event where execution_id = $1 and event_id = $2 and id_from_sender',
    values: [executionId, eventId],
  })
  return rows.length > 0
}
