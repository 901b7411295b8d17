/**
 * Where in the log of an execution an event stands.
 *
 * 1. An id that a sender gave is found by its index.
 * 2. Ids of our own grow with the position, but for what two servers write at the same time, so the place is found by
 *    halving and the event near it. There is no index to ask: it would cost every append.
 * 3. For an id that is not in the log the answer is the last position with a smaller one.
 */
import type { Database } from './database.ts'

/** Events this near to where an id belongs are looked at. */
const NEAR = 200

/** The position of the event, or of the last one before it; 0 when all events came later. */
export const findPosition = async (
  database: Database,
  executionId: string,
  eventId: string,
  lastPosition: number,
): Promise<number> => {
  const { rows } = await database.query<{ position: number }>({
    name: 'find-position',
    text: `with recursive half(low, high) as (
        select 0, $3::int
        union all
        select case when at.event_id <= $2 then half.middle else half.low end,
          case when at.event_id <= $2 then half.high else half.middle - 1 end
        from (select low, high, (low + high + 1) / 2 as middle from half where low < high) half
        cross join lateral (
          select e.event_id from noetl.event e where e.execution_id = $1 and e.position = half.middle) at
      ), place as (select low as position from half order by high - low limit 1)
      select coalesce(
        (select position from noetl.event where execution_id = $1 and event_id = $2 and id_from_sender),
        (select e.position from place p join noetl.event e
           on e.execution_id = $1 and e.position between p.position - ${NEAR} and p.position + ${NEAR}
         where e.event_id = $2),
        (select position from place)) as position`,
    values: [executionId, eventId, lastPosition],
  })
  return rows[0]?.position ?? 0
}
