/**
 * The ten bits that tell the ids of one server from those of another, reserved for as long as it lives.
 *
 * 1. Of the servers on one database no two hold the same number at a time.
 * 2. A server that dies without a word gives its number back when its time is over.
 */
import type { Database } from './database.ts'

export interface MachineHolder {
  readonly holder: string
  readonly seconds: number
}

/** Reserves the number asked for, or the next free one; null when all are taken. */
export const reserveMachineId = async (
  database: Database,
  wanted: number,
  { holder, seconds }: MachineHolder,
): Promise<number | null> => {
  const { rows } = await database.query<{ machine_id: number }>(
    `insert into noetl.machine (machine_id, holder, held_until)
     select n, $2, now() + $3 * interval '1 second'
     from generate_series(0, 1023) as d(distance), lateral (select ($1 + distance) % 1024 as n) candidate
     where not exists (select from noetl.machine m where m.machine_id = n and m.held_until > now())
     order by distance limit 1
     on conflict (machine_id) do update set holder = excluded.holder, held_until = excluded.held_until
     where noetl.machine.held_until <= now()
     returning machine_id`,
    [wanted, holder, seconds],
  )
  if (rows[0]) return rows[0].machine_id
  // Somebody was faster with this very number; the next look sees that.
  const { rows: free } = await database.query<{ free: number }>(
    'select 1024 - count(*)::int as free from noetl.machine where held_until > now()',
  )
  return (free[0]?.free ?? 0) > 0 ? reserveMachineId(database, wanted, { holder, seconds }) : null
}

/** False when the number belongs to somebody else by now. */
export const renewMachineId = async (
  database: Database,
  machineId: number,
  { holder, seconds }: MachineHolder,
): Promise<boolean> => {
  const { rowCount } = await database.query(
    `update noetl.machine set held_until = now() + $3 * interval '1 second' where machine_id = $1 and holder = $2`,
    [machineId, holder, seconds],
  )
  return rowCount === 1
}

export const releaseMachineId = async (
  database: Database,
  machineId: number,
  holder: string,
): Promise<void> => {
  await database.query('delete from noetl.machine where machine_id = $1 and holder = $2', [machineId, holder])
}
