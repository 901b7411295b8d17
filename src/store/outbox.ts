/**
 * Messages for the outside. They are written by the append that writes what they speak of; this file hands them out.
 *
 * 1. A row is claimed by one statement (skip locked), so publishers never take the same one.
 * 2. A claim runs out: rows of a publisher that died are available again after a minute.
 * 3. Marking is repeatable; the first instant of publication stays.
 * 4. Instants are the database's.
 */
import { storableText } from '../lib/exact-json.ts'
import type { Database } from './database.ts'

export interface OutboxMessage {
  readonly outbox_id: string
  readonly event_id: string
  readonly execution_id: string | null
  readonly subject: string | null
  /** JSON text as it is stored, with all digits of its ids. */
  readonly payload: string
  readonly payload_codec: string
  readonly attempts: number
}

const CLAIM_SECONDS = 60
const MAX_DELAY_SECONDS = 300
const ERROR_LENGTH = 2000

const AVAILABLE = "status in ('PENDING', 'IN_FLIGHT', 'FAILED') and available_at <= now()"

/** The oldest available rows, in no particular order; they are the caller's for a minute. */
export const claimOutbox = async (database: Database, limit: number): Promise<readonly OutboxMessage[]> => {
  const { rows } = await database.query<OutboxMessage>({
    name: 'claim-outbox',
    text: `
      update noetl.outbox o
      set status = 'IN_FLIGHT', attempts = attempts + 1, locked_at = now(), updated_at = now(),
        available_at = now() + interval '${CLAIM_SECONDS} seconds'
      where o.outbox_id = any (array(
        select outbox_id from noetl.outbox where ${AVAILABLE}
        order by outbox_id limit $1 for update skip locked))
      returning o.outbox_id, o.event_id, o.execution_id, o.subject, o.payload::text as payload, o.payload_codec, o.attempts`,
    values: [limit],
  })
  return rows
}

/** Answers how many of the rows there are. */
export const markPublished = async (database: Database, outboxIds: readonly string[]): Promise<number> => {
  const { rowCount } = await database.query({
    name: 'mark-published',
    text: `
      update noetl.outbox
      set status = 'PUBLISHED', published_at = coalesce(published_at, now()), updated_at = now(), last_error = null
      where outbox_id = any ($1::bigint[])`,
    values: [outboxIds],
  })
  return rowCount ?? 0
}

/** Seconds until a row that failed for the nth time is tried again. */
export const backoffSeconds = (attempts: number, maxDelaySeconds = MAX_DELAY_SECONDS): number =>
  Math.min(maxDelaySeconds, 2 ** Math.min(8, Math.max(0, attempts - 1)))

/** A row that was published meanwhile stays published. */
export const markFailed = async (
  database: Database,
  { outboxId, error, delaySeconds }: { outboxId: string; error: string; delaySeconds: number },
): Promise<boolean> => {
  const { rowCount } = await database.query({
    name: 'mark-failed',
    text: `
      update noetl.outbox
      set status = 'FAILED', available_at = now() + $2 * interval '1 second', last_error = $3, updated_at = now()
      where outbox_id = $1 and status <> 'PUBLISHED'`,
    values: [outboxId, delaySeconds, storableText(Array.from(error).slice(0, ERROR_LENGTH).join(''))],
  })
  return rowCount === 1
}

/** Claims that were taken in vain, given back at once. */
export const releaseOutbox = async (database: Database, outboxIds: readonly string[]): Promise<void> => {
  await database.query({
    name: 'release-outbox',
    text: `
      update noetl.outbox
      set status = 'PENDING', available_at = now(), attempts = greatest(0, attempts - 1), locked_at = null, updated_at = now()
      where outbox_id = any ($1::bigint[]) and status = 'IN_FLIGHT'`,
    values: [outboxIds],
  })
}

/** How many rows could be claimed now. */
export const countPending = async (database: Database): Promise<number> => {
  const { rows } = await database.query<{ count: number }>({
    name: 'count-outbox',
    text: `select count(*)::int as count from noetl.outbox where ${AVAILABLE}`,
  })
  return rows[0]?.count ?? 0
}

/** Deletes what was published longer ago than this; answers how many rows, at most `max`. */
export const deletePublished = async (
  database: Database,
  { olderThanSeconds, max }: { olderThanSeconds: number; max: number },
): Promise<number> => {
  const { rowCount } = await database.query({
    name: 'delete-published',
    text: `
      delete from noetl.outbox where outbox_id = any (array(
        select outbox_id from noetl.outbox
        where status = 'PUBLISHED' and published_at < now() - $1 * interval '1 second' limit $2 for update skip locked))`,
    values: [olderThanSeconds, max],
  })
  return rowCount ?? 0
}
