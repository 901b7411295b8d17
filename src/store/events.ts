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

/** The newest events, oldest of them first. */
export const readNewestEvents = async (
  database: Database,
  executionId: string,
  limit: number,
): Promise<readonly EventRecord[]> => {
  const { rows } = await database.query<EventRow>({
    name: 'read-newest-events',
    text: `select ${EVENT_COLUMNS} from noetl.event where execution_id = $1 order by position desc limit $2`,
    values: [executionId, limit],
  })
  return rows.map((row) => fromEventRow(row, null)).toReversed()
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
