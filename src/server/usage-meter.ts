/** What the machine and this process use. Processor shares are averages since the last time somebody asked. */
import { readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'

const MEGABYTE = 1024 * 1024

export interface Usage {
  readonly system: {
    readonly cpu_percent: number
    readonly memory_percent: number
    readonly total_memory_mb: number
    readonly used_memory_mb: number
    readonly available_memory_mb: number
  }
  readonly process: {
    readonly pid: number
    readonly cpu_percent: number
    readonly memory_rss_mb: number
    readonly memory_vms_mb: number
    readonly num_threads: number
    readonly start_time: string
    readonly uptime_seconds: number
  }
}

export const createUsageMeter = (): (() => Usage) => {
  const startedAt = new Date(Date.now() - process.uptime() * 1000).toISOString()
  let machine = machineTimes()
  let own = { cpu: process.cpuUsage(), at: performance.now() }

  return () => {
    const nowMachine = machineTimes()
    const nowOwn = { cpu: process.cpuUsage(), at: performance.now() }
    const busy = nowMachine.busy - machine.busy
    const passed = busy + nowMachine.idle - machine.idle
    const usedMs = (nowOwn.cpu.user - own.cpu.user + nowOwn.cpu.system - own.cpu.system) / 1000
    const elapsedMs = nowOwn.at - own.at
    machine = nowMachine
    own = nowOwn
    const total = totalmem()
    const available = process.availableMemory()
    return {
      system: {
        cpu_percent: percent(busy, passed),
        memory_percent: percent(total - available, total),
        total_memory_mb: megabytes(total),
        used_memory_mb: megabytes(total - available),
        available_memory_mb: megabytes(available),
      },
      process: {
        pid: process.pid,
        cpu_percent: percent(usedMs, elapsedMs),
        memory_rss_mb: megabytes(process.memoryUsage.rss()),
        memory_vms_mb: megabytes(virtualMemory()),
        // Not told by Node.
        num_threads: 0,
        start_time: startedAt,
        uptime_seconds: Math.floor(process.uptime()),
      },
    }
  }
}

const machineTimes = (): { busy: number; idle: number } => {
  let [busy, idle] = [0, 0]
  for (const { times } of cpus()) {
    busy += times.user + times.nice + times.sys + times.irq
    idle += times.idle
  }
  return { busy, idle }
}

const percent = (part: number, whole: number): number =>
  whole <= 0 ? 0 : Math.max(0, Math.round((part / whole) * 1000) / 10)

const megabytes = (bytes: number): number => Math.round((bytes / MEGABYTE) * 10) / 10

/** Linux tells it in pages of 4 KiB; elsewhere it is not known. */
const virtualMemory = (): number => {
  try {
    return Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[0]) * 4096
  } catch {
    return 0
  }
}
