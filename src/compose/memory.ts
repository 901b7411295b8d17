/** The memory that this process may use, and the part of it that states of executions get unless told otherwise. */
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

const MEGABYTE = 1024 * 1024
const LEAST_STATE_CACHE_MB = 64

/** Limits in bytes, as the system tells them. Those that do not exist are told as 0 or as very much. */
export interface MemoryLimits {
  readonly machine: number
  /** Of the container, or whatever else confines the process. */
  readonly confinement: number
  /** Objects have to fit into it, whatever else there is. */
  readonly heap: number
}

export const memoryLimits = (): MemoryLimits => ({
  machine: totalmem(),
  confinement: process.constrainedMemory(),
  heap: getHeapStatistics().heap_size_limit,
})

/** A quarter of what there is. */
export const defaultStateCacheMb = (
  { machine, confinement, heap }: MemoryLimits = memoryLimits(),
): number => {
  const limits = [machine, confinement, heap].filter((limit) => limit > 0)
  return Math.max(LEAST_STATE_CACHE_MB, Math.floor(Math.min(...limits) / 4 / MEGABYTE))
}
