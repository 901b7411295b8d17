/**
 * Places in a log: by event, or by instant. Instants grow along a log, so a place is found by halving, a few reads
 * however long the log is. Where the clocks of senders disagree it is the place before the first later event.
 */
import type { Database } from './database.ts'
import { findPosition } from './event-position.ts'

/** Position of an event; null when the execution has no such event. */
export const findExactPosition = async (
  database: Database,
  executionId: string,
  eventId: string,
  last: number,
): Promise<number | null> => {
  const position = await findPosition(database, executionId, eventId, last)
  const { rows } = await database.query<{ event_id: string }>({
    name: 'read-event-id',
    text: 'select event_id from noetl.event where execution_id = $1 and position = $2',
    values: [executionId, position],
  })
  return rows[0]?.event_id === eventId ? position : null
}

/** Position of the last event that is not later than an instant; 0 when all are. */
export const findPositionAt = async (
  database: Database,
  executionId: string,
  instant: string,
  last: number,
): Promise<number> => {
  const wanted = Date.parse(instant)
  const found = await halve(database, executionId, last, (probe) => Date.parse(probe.created_at) <= wanted)
  return found?.position ?? 0
}

interface Probe {
  readonly position: number
  readonly created_at: string
}

/** How many places are looked at in one read: most of the time goes into asking. */
const FAN = 32

/** The last place before which, by all that was looked at, everything fits. */
const halve = async (
  database: Database,
  executionId: string,
  last: number,
  fits: (probe: Probe) => boolean,
): Promise<Probe | null> => {
  let low = 0
  let high = last + 1
  let found: Probe | null = null
  while (high - low > 1) {
    const { rows } = await database.query<Probe>({
      name: 'probe-positions',
      text: `select position, created_at from noetl.event
        where execution_id = $1 and position = any ($2::int[]) order by position`,
      values: [executionId, placesBetween(low, high)],
    })
    if (rows.length === 0) return found
    for (const probe of rows) {
      if (!fits(probe)) {
        high = probe.position
        break
      }
      low = probe.position
      found = probe
    }
  }
  return found
}

const placesBetween = (low: number, high: number): readonly number[] => {
  const width = Math.max(1, Math.floor((high - low) / (FAN + 1)))
  const places: number[] = []
  for (let place = low + width; place < high && places.length < FAN; place += width) places.push(place)
  return places
}
