/**
 * The processor time that this process and a PostgreSQL on the same machine have used. Unlike a clock it does not run
 * while others have the processor, so that a measurement on a busy machine still says what a quiet one would take.
 * Linux only.
 */
import { readdirSync, readFileSync } from 'node:fs'

/** Of the kernel's tables; the same on every system one meets. */
const TICK_MS = 10

interface Usage {
  readonly parent: number
  readonly milliseconds: number
  /** Of its children that have ended. */
  readonly ofEnded: number
}

const usageOf = (pid: number | string): Usage | null => {
  try {
    // The name, in brackets, may hold blanks.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\)\s/s, '')
      .split(' ')
    const ticks = (first: number): number => Number(fields[first]) + Number(fields[first + 1])
    return { parent: Number(fields[1]), milliseconds: ticks(11) * TICK_MS, ofEnded: ticks(13) * TICK_MS }
  } catch {
    // It has ended, or there is no such table here.
    return null
  }
}

/** A meter for this process and all processes of the server that this backend belongs to; null where it cannot be told. */
export const createProcessorMeter = (backendPid: number): (() => number) | null => {
  const server = usageOf(backendPid)?.parent
  if (server === undefined) return null
  return () => {
    const { user, system } = process.cpuUsage()
    const backends = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(usageOf)
      .filter((usage) => usage?.parent === server)
    const running = backends.reduce((sum, usage) => sum + (usage?.milliseconds ?? 0), 0)
    return (user + system) / 1000 + running + (usageOf(server)?.ofEnded ?? 0)
  }
}
