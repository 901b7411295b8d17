/** The logs as they lie in the database, and what must be true of each, whatever happened. */
import type { Pool } from 'pg'

export interface LoggedEvent {
  readonly executionId: string
  readonly position: number
  readonly eventId: string
  readonly type: string
  readonly node: string | null
  readonly at: number
  readonly commandId: string | null
  readonly reason: string | null
  readonly lease: string | null
  readonly worker: string | null
  readonly key: string | null
  readonly error: string | null
  readonly isParking: boolean
}

export interface Row {
  readonly execution_id: string
  readonly path: string
  readonly status: string
  readonly version: number
  readonly parent_execution_id: string | null
  readonly origin_execution_id: string | null
  readonly error: string | null
}

export const readRows = async (database: Pool): Promise<readonly Row[]> =>
  (
    await database.query<Row>(
      `select execution_id::text, path, status, version, parent_execution_id::text, origin_execution_id::text, error
       from noetl.execution order by execution_id`,
    )
  ).rows

export const readLogs = async (database: Pool): Promise<ReadonlyMap<string, readonly LoggedEvent[]>> => {
  const { rows } = await database.query<LoggedEvent>(
    `select execution_id::text as "executionId", position, event_id::text as "eventId", event_type as type, node_name as node,
       extract(epoch from created_at)::float8 * 1000 as at,
       coalesce(result_context ->> 'command_id', meta ->> 'command_id') as "commandId",
       meta ->> 'reason' as reason, meta ->> 'lease' as lease, worker_id as worker,
       context -> 'workload' ->> 'key' as key, error,
       coalesce(result_context ->> 'pending_callback', '') = 'true' as "isParking"
     from noetl.event order by execution_id, position`,
  )
  return Map.groupBy(rows, ({ executionId }) => executionId)
}

const ENDS = [
  'playbook.completed',
  'playbook.failed',
  'playbook_cancelled',
  'playbook_failed',
  'playbook_completed',
]
const isEnd = ({ type }: LoggedEvent): boolean => ENDS.includes(type)

/** Positions without a gap, one end for each time it was opened, no command that ended or was issued twice. */
export const logProblems = (log: readonly LoggedEvent[]): readonly string[] => {
  const problems: string[] = []
  for (const [index, { position }] of log.entries())
    if (position !== index + 1) problems.push(`position ${position} at place ${index + 1}`)
  let ends = 0
  const seen = new Map<string, number>()
  for (const event of log) {
    if (event.type === 'playbook.reopened') ends = 0
    if (isEnd(event) && (ends += 1) > 1) problems.push(`a second end at ${event.position}`)
    const word = ['command.completed', 'command.failed'].includes(event.type)
      ? 'ended'
      : event.type === 'command.issued'
        ? 'issued'
        : null
    // What comes after the end is only remembered; a parked command ends later.
    if (word === null || ends > 0 || event.isParking) continue
    const name = `command ${event.commandId} ${word}`
    seen.set(name, (seen.get(name) ?? 0) + 1)
  }
  for (const [name, times] of seen) if (times > 1) problems.push(`${name} ${times} times`)
  return problems
}

/**
 * Leases that were put back into the queue before their time was over are written down beside the queue: the log tells
 * whether their holders gave them back.
 */
export const watchLeases = async (database: Pool): Promise<void> => {
  await database.query(`
    create table soak_taken (command_id text, lease_token text);
    create function soak_note_taken() returns trigger language plpgsql as $$
      begin
        insert into soak_taken values (old.command_id, old.lease_token::text);
        return null;
      end $$;
    create trigger soak_note_taken after update on noetl.command for each row
      when (old.status = 'CLAIMED' and new.status = 'PENDING' and old.lease_until > now() and old.worker_id not like 'reaper-%')
      execute function soak_note_taken()`)
}

export const readTaken = async (database: Pool): Promise<ReadonlySet<string>> => {
  const { rows } = await database.query<{ lease: string }>(
    `select command_id || ' ' || lease_token as lease from soak_taken`,
  )
  return new Set(rows.map(({ lease }) => lease))
}

/** A command has one holder at a time, and nobody loses a lease that has not run out. */
export const leaseProblems = (log: readonly LoggedEvent[], taken: ReadonlySet<string>): readonly string[] => {
  const problems: string[] = []
  const held = new Map<string, LoggedEvent>()
  for (const { commandId, type, position, reason, ...event } of log) {
    if (commandId === null) continue
    const holder = held.get(commandId)
    if (type === 'command.claimed') {
      if (holder) problems.push(`${commandId} claimed at ${position} while ${holder.worker} holds it`)
      held.set(commandId, { commandId, type, position, reason, ...event })
    } else if (type === 'command.released') {
      if (reason === 'lease_expired' && holder && taken.has(`${commandId} ${holder.lease}`))
        problems.push(`${commandId} taken from ${holder.worker} at ${position} before its lease was over`)
      held.delete(commandId)
    } else if (type === 'command.completed' || type === 'command.failed') held.delete(commandId)
  }
  return problems
}
