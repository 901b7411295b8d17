/**
 * Keeps the machine number of this server reserved, and takes another one when it was lost: a server that was cut off
 * for longer than its reservation must not make ids that somebody else makes, too.
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

export interface MachineIdKeeper extends Service {
  current(): number
  /** Renews once; answers the number that holds from now on. */
  runOnce(): Promise<number>
}

/** Reserves the number that is wanted, or the next free one. */
export const reserveMachine = async (
  cluster: Database,
  wanted: number,
  log: Log,
): Promise<MachineIdKeeper> => {
  const holder = { holder: randomUUID(), seconds: HELD_SECONDS }
  const reserve = async (): Promise<number> => {
    const machineId = await reserveMachineId(cluster, wanted, holder)
    if (machineId === null)
      throw new ProblemError('unavailable', 'All 1024 machine ids are in use by servers on this database')
    return machineId
  }
  let machineId = await reserve()
  const runOnce = async (): Promise<number> => {
    if (!(await renewMachineId(cluster, machineId, holder))) {
      const lost = machineId
      machineId = await reserve()
      log.warn({ lost, machine_id: machineId }, 'machine id was lost, another one is used')
    }
    return machineId
  }
  const service = createService({ name: 'machine-id-keeper', intervalMs: RENEW_MS, log, run: runOnce })
  return {
    current: () => machineId,
    runOnce,
    start: service.start,
    stop: async () => {
      await service.stop()
      await releaseMachineId(cluster, machineId, holder.holder)
    },
  }
}
