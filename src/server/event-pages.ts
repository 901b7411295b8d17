/**
 * Pages of the log of an execution.
 *
 * 1. Positions have no gaps, so a page is a stretch of them: its cost does not depend on the length of the log.
 * 2. Looking for types reads at most a bounded stretch. What was not looked at is told: a page says that it is
 *    truncated, a walk says where to go on.
 * 3. Pages by number count from the newest one. Inside a page the oldest event comes first.
 */
import type { EventRecord } from '../contract/event.ts'
import type { Database } from '../store/database.ts'
import { findPosition } from '../store/event-position.ts'
import { countEvents, readEventRange } from '../store/events.ts'
import type { ExecutionRow } from '../store/executions.ts'

/** Events that are looked through for a type. */
export const LOOKED_THROUGH = 20_000

type Execution = Pick<ExecutionRow, 'execution_id' | 'version'>

export interface PageRequest {
  readonly page: number
  readonly pageSize: number
  /** Only events after this one. */
  readonly sinceEventId: string | null
  readonly types: readonly string[] | null
  /** True when only the numbers are wanted. */
  readonly counted?: boolean
}

export interface EventPage {
  readonly events: readonly EventRecord[]
  readonly pagination: {
    readonly page: number
    readonly page_size: number
    readonly total_events: number
    readonly total_pages: number
    readonly has_next: boolean
    readonly has_prev: boolean
    readonly truncated: boolean
  }
}

export const pageOfEvents = async (
  database: Database,
  execution: Execution,
  request: PageRequest,
): Promise<EventPage> => {
  const { page, pageSize, types } = request
  const since = await positionOf(database, execution, request.sinceEventId)
  const { after, truncated } = stretch(since, execution.version, types)
  const upTo = execution.version
  const total =
    types === null
      ? upTo - after
      : await countEvents(database, execution.execution_id, { after, upTo, types })
  const pages = Math.ceil(total / pageSize)
  const skipped = (page - 1) * pageSize
  const events =
    request.counted === true || skipped >= total
      ? []
      : await readEventRange(database, execution.execution_id, {
          ...(types === null
            ? { after: Math.max(after, upTo - skipped - pageSize), upTo: upTo - skipped }
            : { after, upTo, offset: skipped }),
          types,
          newestFirst: true,
          limit: pageSize,
        })
  return {
    events: events.toReversed(),
    pagination: {
      page,
      page_size: pageSize,
      total_events: total,
      total_pages: pages,
      has_next: page < pages,
      has_prev: page > 1,
      truncated,
    },
  }
}

/** Where looking for types ends. */
const stretch = (after: number, upTo: number, types: readonly string[] | null) => {
  const lowest = types === null ? after : Math.max(after, upTo - LOOKED_THROUGH)
  return { after: lowest, truncated: lowest > after }
}

const positionOf = async (
  database: Database,
  { execution_id, version }: Execution,
  eventId: string | null,
): Promise<number> => (eventId === null ? 0 : findPosition(database, execution_id, eventId, version))

export interface WalkRequest {
  readonly after: number
  /** Exclusive; null for no end. */
  readonly before: number | null
  readonly sinceEventId: string | null
  readonly types: readonly string[] | null
  readonly newestFirst: boolean
  readonly limit: number
}

export interface Walk {
  readonly events: readonly EventRecord[]
  /** Where the next walk goes on; null when this one has reached the end. */
  readonly next: number | null
}

/** Events from one end of a stretch towards the other. */
export const walkEvents = async (
  database: Database,
  execution: Execution,
  request: WalkRequest,
): Promise<Walk> => {
  const { types, newestFirst, limit } = request
  const since = await positionOf(database, execution, request.sinceEventId)
  const lowest = Math.max(request.after, since)
  const highest = Math.min((request.before ?? execution.version + 1) - 1, execution.version)
  if (lowest >= highest) return { events: [], next: null }
  const reach = types === null ? highest - lowest : LOOKED_THROUGH
  const after = newestFirst ? Math.max(lowest, highest - reach) : lowest
  const upTo = newestFirst ? highest : Math.min(highest, lowest + reach)
  const range = { after, upTo, types, newestFirst, limit }
  const events = await readEventRange(database, execution.execution_id, range)
  const last = events.length === limit ? events.at(-1)?.position : undefined
  if (newestFirst) {
    const seen = last ?? after + 1
    return { events, next: seen > lowest + 1 ? seen : null }
  }
  const seen = last ?? upTo
  return { events, next: seen < highest ? seen : null }
}
