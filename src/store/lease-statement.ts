/**
 * The statements that lease the oldest waiting commands that a worker can run: a plain one for workers that have nothing
 * special, which is most of them, and one for those that can do what some commands ask for.
 *
 * 1. Commands that ask for nothing are read along an index of their own, those that ask for something along another, one
 *    stretch of it for each thing asked for. So the cost depends neither on how many wait nor on what others wait for.
 * 2. The oldest goes first: what asks for something and is older than anything ordinary, then the ordinary, then the rest. Within
 *    one lease of several the order is that rough; from lease to lease nobody is passed over.
 * 3. Only what is leased is locked, so that nobody else looks past a command which nobody takes. What is locked is looked past:
 *    among commands that ask for something, as many as `SPARE` at a time.
 *
 * Parameters: pool, worker, seconds, number, and capabilities for the second.
 */

/** More than ever lease at the same instant. */
const SPARE = 64

const ORDINARY = `pool = $1 and status = 'PENDING' and requires is null and available_at <= now()`
const DEMANDING = `pool = $1 and status = 'PENDING' and requires is not null`
const left = (...taken: readonly string[]): string =>
  `$4::bigint${taken.map((name) => ` - (select count(*) from ${name})`).join('')}`

/**
 * Each thing asked for is found by one jump along the index. Equality is written as a range: with it PostgreSQL might take the
 * order by event id from the primary key instead, and pass by everything that waits.
 */
const SUITABLE = `
  demands as (
    (select requires from noetl.command where ${DEMANDING} order by requires limit 1)
    union all
    select (
      select c.requires from noetl.command c
      where c.pool = $1 and c.status = 'PENDING' and c.requires > d.requires order by c.requires limit 1)
    from demands d where d.requires is not null),
  suitable as materialized (
    select w.event_id from demands d cross join lateral (
      select event_id from noetl.command
      where pool = $1 and status = 'PENDING' and requires >= d.requires and requires <= d.requires and available_at <= now()
      order by requires, event_id limit $4::bigint + ${SPARE}) w
    where d.requires <@ $5::text[]
    order by w.event_id limit $4::bigint + ${SPARE})`

const lockedDemanding = (condition: string, limit: string): string => `
    select event_id from noetl.command
    where event_id = any (array(select event_id from suitable)) and status = 'PENDING' and ${condition}
    order by event_id limit ${limit} for update skip locked`

const OLDEST_ORDINARY = `(select event_id from noetl.command where ${ORDINARY} order by event_id limit 1)`

const lease = (condition: string, returned: string): string => `
  update noetl.command c
  set status = 'CLAIMED', worker_id = $2, lease_token = c.lease_token + 1, attempt = c.attempt + 1,
    lease_until = now() + $3 * interval '1 second', claimed_at = now()
  where ${condition}
  returning ${returned}`

const isOneOf = (eventIds: string): string => `c.event_id = any (array(${eventIds}))`

/** Parameters: id of the event that issued it, worker, seconds. */
export const leaseOne = (returned: string): string =>
  lease("c.event_id = $1 and c.status = 'PENDING'", returned)

const lockedOrdinary = (limit: string): string => `
    select event_id from noetl.command where ${ORDINARY}
    order by event_id limit ${limit} for update skip locked`

export const leaseOrdinary = (returned: string): string => lease(isOneOf(lockedOrdinary('$4')), returned)

export const leaseSuitable = (returned: string): string => `
  with recursive ${SUITABLE},
  older as materialized (${lockedDemanding(`event_id < coalesce(${OLDEST_ORDINARY}, ${2n ** 63n - 1n})`, left())}),
  ordinary as materialized (${lockedOrdinary(left('older'))}),
  rest as materialized (
    ${lockedDemanding('event_id not in (select event_id from older)', left('older', 'ordinary'))})
  ${lease(isOneOf('select event_id from older union all select event_id from ordinary union all select event_id from rest'), returned)}`
