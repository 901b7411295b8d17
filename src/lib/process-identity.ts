/**
 * Tells whether a process that was seen earlier is still the same one. Process ids are reused, so a pid alone proves
 * nothing; together with the time the process started it does.
 *
 * 1. A process that has ended but was not yet collected by its parent (a zombie) counts as ended.
 * 2. Where the start time cannot be read, the mark is `UNKNOWN_START` and a live pid is believed.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

export const UNKNOWN_START = 'unknown'

/** An opaque text that differs between two processes with the same pid; null when no such process runs. */
export function processStart(pid: number): string | null {
  if (!respondsToSignals(pid)) return null
  return process.platform === 'linux' ? linuxProcessStart(pid) : listedProcessStart(pid)
}

/** True while the process that had this start mark is running. */
export function isSameProcess(pid: number, start: string): boolean {
  const current = processStart(pid)
  if (current === null) return false
  return current === start || current === UNKNOWN_START || start === UNKNOWN_START
}

/** The arguments a process was started with, or null when it ended or they cannot be read. */
export function commandLine(pid: number): string | null {
  if (process.platform === 'linux') {
    return readOrNull(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim() ?? null
  }
  return listed(pid, 'command')
}

/** The command lines of all running processes this user may see. */
export function commandLines(): string[] {
  if (process.platform !== 'linux') {
    return spawnSync('ps', ['-axo', 'command='], { encoding: 'utf8' }).stdout.split('\n')
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => commandLine(Number(name)) ?? [])
}

function respondsToSignals(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it exists and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function linuxProcessStart(pid: number): string | null {
  const stat = readOrNull(`/proc/${pid}/stat`)
  if (stat === null) return respondsToSignals(pid) ? UNKNOWN_START : null
  // The second field is the program name in parentheses and may itself contain spaces and parentheses.
  const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (state === 'Z' || state === 'X') return null
  // Counted in ticks since boot, hence only meaningful together with the boot it belongs to.
  const ticks = rest[18]
  const boot = readOrNull('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
  return ticks === undefined ? UNKNOWN_START : `${boot}:${ticks}`
}

function listedProcessStart(pid: number): string | null {
  if (listed(pid, 'state')?.startsWith('Z') === true) return null
  return listed(pid, 'lstart') ?? (respondsToSignals(pid) ? UNKNOWN_START : null)
}

function listed(pid: number, column: string): string | null {
  const result = spawnSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' })
  const text = result.status === 0 ? result.stdout.trim() : ''
  return text === '' ? null : text
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process ended meanwhile, or this kernel does not offer the file.
    return null
  }
}
