/**
 * The queue. Leases live here; what a lease means for the execution is decided in the log.
 *
 * 1. A row is leased by one statement (skip locked), so two workers never lease the same command.
 * 2. Every lease gets a larger token than the one before.
 * 3. Instants are the database's: they compare leases across machines.
 */
import type { Database } from './database.ts'
import { leaseOne, leaseOrdinary, leaseSuitable } from './lease-statement.ts'

export interface LeasedRow {
  readonly event_id: string
  readonly execution_id: string
  readonly position: number
  readonly command_id: string
  readonly lease_token: string
  readonly lease_until: string | null
  readonly attempt: number
}

const LEASED = 'c.event_id, c.execution_id, c.position, c.command_id, c.lease_token, c.lease_until, c.attempt'

const LEASE_ORDINARY = { name: 'lease-ordinary', text: leaseOrdinary(LEASED) }
const LEASE_ONE = { name: 'lease-command', text: leaseOne(LEASED) }
const LEASE_SUITABLE = { name: 'lease-suitable', text: leaseSuitable(LEASED) }

/** Leases the oldest waiting commands of a pool to a worker. */
export const leaseCommands = async (
  database: Database,
  {
    pool,
    workerId,
    max,
    leaseSeconds,
    capabilities = [],
  }: {
    pool: string
    workerId: string
    max: number
    leaseSeconds: number
    capabilities?: readonly string[]
  },
): Promise<readonly LeasedRow[]> => {
  const values = [pool, workerId, leaseSeconds, max]
  const { rows } = await database.query<LeasedRow>(
    capabilities.length > 0
      ? { ...LEASE_SUITABLE, values: [...values, capabilities] }
      : { ...LEASE_ORDINARY, values },
  )
  return rows
}

/** Leases one command by its id; null when it is not waiting. */
export const leaseCommand = async (
  database: Database,
  { eventId, workerId, leaseSeconds }: { eventId: string; workerId: string; leaseSeconds: number },
): Promise<LeasedRow | null> => {
  const { rows } = await database.query<LeasedRow>({
    ...LEASE_ONE,
    values: [eventId, workerId, leaseSeconds],
  })
  return rows[0] ?? null
}

export interface CommandRow extends LeasedRow {
  readonly step: string
  readonly tool_kind: string
  readonly pool: string
  readonly status: 'PENDING' | 'CLAIMED' | 'PARKED' | 'COMPLETED' | 'FAILED' | 'CANCELLED'
  readonly worker_id: string | null
}

export const readCommand = async (database: Database, eventId: string): Promise<CommandRow | null> => {
  const { rows } = await database.query<CommandRow>({
    name: 'read-command',
    text: `select ${LEASED}, c.step, c.tool_kind, c.pool, c.status, c.worker_id
      from noetl.command c where c.event_id = $1`,
    values: [eventId],
  })
  return rows[0] ?? null
}

export interface LeaseToExtend {
  readonly eventId: string
  readonly leaseToken: string
}

/** Extends leases that are still held; answers the state of every one, in order: the row's status, or null when lost. */
export const extendLeases = async (
  database: Database,
  {
    workerId,
    leases,
    leaseSeconds,
  }: { workerId: string; leases: readonly LeaseToExtend[]; leaseSeconds: number },
): Promise<readonly (CommandRow['status'] | null)[]> => {
  const ids = leases.map((lease) => lease.eventId)
  const tokens = leases.map((lease) => lease.leaseToken)
  const { rows } = await database.query<{ status: CommandRow['status'] | null }>({
    name: 'extend-leases',
    text: `
      with wanted as (select * from unnest($2::bigint[], $3::text[]) with ordinality as w(event_id, lease_token, nth)),
      extended as (
        update noetl.command c set lease_until = now() + $4 * interval '1 second'
        from wanted w
        where c.event_id = w.event_id and c.status = 'CLAIMED' and c.worker_id = $1 and c.lease_token::text = w.lease_token
        returning c.event_id)
      select case
        when x.event_id is not null then 'CLAIMED'
        when c.status in ('COMPLETED', 'FAILED', 'CANCELLED') then c.status
        end as status
      from wanted w
      left join extended x on x.event_id = w.event_id
      left join noetl.command c on c.event_id = w.event_id
      order by w.nth`,
    values: [workerId, ids, tokens, leaseSeconds],
  })
  return rows.map((row) => row.status)
}

/**
 * Takes over leases that ran out, as a holder of its own with a fresh token: the old holder is fenced off, and if
 * this one dies too, its lease runs out like any other.
 */
export const takeExpired = async (
  database: Database,
  { reaperId, max, leaseSeconds }: { reaperId: string; max: number; leaseSeconds: number },
): Promise<readonly LeasedRow[]> => {
  const { rows } = await database.query<LeasedRow>({
    name: 'take-expired',
    text: `
      update noetl.command c
      set worker_id = $1, lease_token = c.lease_token + 1, lease_until = now() + $3 * interval '1 second'
      where c.event_id = any (array(
        select event_id from noetl.command where status = 'CLAIMED' and lease_until < now()
        order by lease_until limit $2 for update skip locked))
      returning ${LEASED}`,
    values: [reaperId, max, leaseSeconds],
  })
  return rows
}

/** Ends at once the leases of workers that are known to be gone. */
export const expireLeasesOf = async (database: Database, workerPrefix: string): Promise<number> => {
  const { rowCount } = await database.query(
    `update noetl.command set lease_until = now() - interval '1 second'
     where status = 'CLAIMED' and starts_with(worker_id, $1)`,
    [workerPrefix],
  )
  return rowCount ?? 0
}

/**
 * Leases of workers that send heartbeats for themselves only. A lease with much time left is such a one: those that
 * are extended one by one never have so much.
 */
const LONG_LEASE_LEFT_SECONDS = 120

/** Extends the long leases of workers that live; only those that have lost half of their time, so that it costs little. */
export const extendLongLeases = async (
  database: Database,
  workerId: string,
  leaseSeconds: number,
): Promise<number> => {
  const { rowCount } = await database.query({
    name: 'extend-long-leases',
    text: `
      update noetl.command set lease_until = now() + $2 * interval '1 second'
      where status = 'CLAIMED' and worker_id = $1
        and lease_until between now() + ${LONG_LEASE_LEFT_SECONDS} * interval '1 second' and now() + $2 * interval '0.5 second'`,
    values: [workerId, leaseSeconds],
  })
  return rowCount ?? 0
}

/** Ends the long leases of workers that were silent for too long. */
export const endLongLeases = async (database: Database, workerIds: readonly string[]): Promise<number> => {
  const { rowCount } = await database.query({
    name: 'end-long-leases',
    text: `
      update noetl.command set lease_until = now() - interval '1 second'
      where status = 'CLAIMED' and worker_id = any ($1) and lease_until > now() + ${LONG_LEASE_LEFT_SECONDS} * interval '1 second'`,
    values: [workerIds],
  })
  return rowCount ?? 0
}
