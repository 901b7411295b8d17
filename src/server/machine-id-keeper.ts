/**
 * Keeps the machine number of this server reserved, and takes another one when it was lost: a server that was cut off
 * for longer than its reservation must not make ids that somebody else makes, too.
 *
 * 1. A number whose reservation may have run out, because the process stood still or the database was away, is not used:
 *    whoever needs an id is told to try again, and the number is renewed at once.
 */
import { randomUUID } from 'node:crypto'
import { ProblemError } from '../contract/problem.ts'
import type { Database } from '../store/database.ts'
import { releaseMachineId, renewMachineId, reserveMachineId } from '../store/machine-ids.ts'
import type { Log } from './log.ts'
import type { Service } from './service.ts'
import { createService } from './service.ts'

const HELD_SECONDS = 60
const RENEW_MS = 15_000
/** Kept back of the reservation: time passes between looking at the number and writing what was made with it. */
const MARGIN_MS = 10_000

export interface MachineIdKeeper extends Service {
  /** Throws while the reservation may have run out. */
  current(): number
  /** Renews once; answers the number that holds from now on. */
  runOnce(): Promise<number>
}

/** Reserves the number that is wanted, or the next free one. */
export const reserveMachine = async (
  cluster: Database,
  wanted: number,
  log: Log,
  /** Of the machine, which goes on while the process stands still. */
  now: () => number = Date.now,
): Promise<MachineIdKeeper> => {
  const holder = { holder: randomUUID(), seconds: HELD_SECONDS }
  const reserve = async (): Promise<number> => {
    const machineId = await reserveMachineId(cluster, wanted, holder)
    if (machineId === null)
      throw new ProblemError('unavailable', 'All 1024 machine ids are in use by servers on this database')
    return machineId
  }
  /** Counted from before it was asked for. */
  let reservedAt = now()
  let machineId = await reserve()
  const renew = async (): Promise<number> => {
    const askedAt = now()
    if (!(await renewMachineId(cluster, machineId, holder))) {
      const lost = machineId
      machineId = await reserve()
      log.warn({ lost, machine_id: machineId }, 'machine id was lost, another one is used')
    }
    reservedAt = askedAt
    return machineId
  }
  let renewing: Promise<number> | null = null
  /** One at a time: a number that is lost is replaced once. */
  const runOnce = (): Promise<number> => {
    renewing ??= renew().finally(() => (renewing = null))
    return renewing
  }
  const current = (): number => {
    const age = now() - reservedAt
    if (age > -MARGIN_MS && age < HELD_SECONDS * 1000 - MARGIN_MS) return machineId
    runOnce().catch(() => undefined)
    throw new ProblemError('unavailable', 'The machine id of this server has to be renewed first; try again')
  }
  const service = createService({ name: 'machine-id-keeper', intervalMs: RENEW_MS, log, run: runOnce })
  return {
    current,
    runOnce,
    start: service.start,
    stop: async () => {
      await service.stop()
      await renewing?.catch(() => undefined)
      await releaseMachineId(cluster, machineId, holder.holder)
    },
  }
}
