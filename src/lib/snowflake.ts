/**
 * Snowflake ids: signed 64-bit, 41 bits of milliseconds since 2024-01-01, 10 of machine, 12 of sequence.
 *
 * 1. Ids of one generator strictly increase.
 * 2. A clock that goes back reuses the last millisecond; a full millisecond borrows the next one.
 * 3. Ids are decimal text everywhere in the program: they exceed what a double holds.
 */
export const SNOWFLAKE_EPOCH_MS = 1_704_067_200_000

const SEQUENCES = 4096
const MACHINES = 1024

export interface SnowflakeOptions {
  /** 0..1023, unique among the processes that write to one database; may change while they run. */
  readonly machineId: number | (() => number)
  readonly now: () => number
}

export type NextId = () => string

export const createSnowflake = ({ machineId, now }: SnowflakeOptions): NextId => {
  const machineNow = typeof machineId === 'number' ? () => machineId : machineId
  let lastMs = -1
  let sequence = 0
  let prefix = 0n
  // A new machine begins with a new millisecond, so that ids go on increasing.
  let machine = checked(machineNow())
  return () => {
    const ms = now() - SNOWFLAKE_EPOCH_MS
    const current = machineNow()
    if (ms > lastMs || current !== machine) {
      lastMs = Math.max(ms, current === machine ? ms : lastMs + 1)
      machine = checked(current)
      sequence = 0
      prefix = (BigInt(lastMs) << 22n) | (BigInt(machine) << 12n)
    } else if (++sequence === SEQUENCES) {
      lastMs += 1
      sequence = 0
      prefix = (BigInt(lastMs) << 22n) | (BigInt(machine) << 12n)
    }
    return (prefix | BigInt(sequence)).toString()
  }
}

const checked = (machineId: number): number => {
  if (Number.isInteger(machineId) && machineId >= 0 && machineId < MACHINES) return machineId
  throw new RangeError(`machine id must be an integer from 0 to ${MACHINES - 1}, got ${machineId}`)
}

/** The instant an id was made, in Unix milliseconds. */
export const snowflakeTime = (id: string): number => Number(BigInt(id) >> 22n) + SNOWFLAKE_EPOCH_MS

/** The smallest id that can be made at an instant. */
export const firstSnowflakeAt = (unixMs: number): string =>
  (BigInt(unixMs - SNOWFLAKE_EPOCH_MS) << 22n).toString()

const FNV_OFFSET = 0xcbf29ce484222325n
const FNV_PRIME = 0x100000001b3n

/** FNV-1a-64 of a host name, cut to ten bits: the machine id of a server that was given none. */
export const machineIdOf = (hostname: string): number => {
  let hash = FNV_OFFSET
  for (const byte of new TextEncoder().encode(hostname)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * FNV_PRIME)
  }
  return Number(hash & 0x3ffn)
}
