/**
 * The main process of a PostgreSQL server, as its `postmaster.pid` describes it.
 *
 * 1. A pid is believed only when that process runs `postgres` on this very directory; the file survives crashes, and the
 *    pid in it may belong to anything by now.
 * 2. A server left over from an earlier process is stopped, never used: it may run other settings and programs, and
 *    nobody guards it.
 * 3. A file that names no server of this directory is removed, because PostgreSQL would refuse to start beside it.
 */
import { readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ProblemError } from '../../contract/problem.ts'
import { commandLine, processStart } from '../../lib/process-identity.ts'

/** After which time each stronger signal follows: fast shutdown, then without a checkpoint, then the kernel's. */
const STOP_SIGNALS = [
  { signal: 'SIGINT', patienceMs: 20_000 },
  { signal: 'SIGQUIT', patienceMs: 5000 },
  { signal: 'SIGKILL', patienceMs: 5000 },
] as const

const POLL_MS = 10

export interface PostmasterFile {
  readonly pid: number
  /** True once the server accepts connections. */
  readonly ready: boolean
}

export function readPostmasterFile(clusterDir: string): PostmasterFile | null {
  let text: string
  try {
    text = readFileSync(join(clusterDir, 'postmaster.pid'), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  // Lines: pid, directory, start time, port, socket directory, address, shared memory key, status.
  const lines = text.split('\n')
  const pid = Number.parseInt(lines[0] ?? '', 10)
  return Number.isNaN(pid) ? null : { pid, ready: lines[7]?.startsWith('ready') ?? false }
}

/** Sees to it that no server runs on the cluster and nothing hinders the next (invariants 2 and 3). */
export async function endLeftoverServer(clusterDir: string, log: (line: string) => void): Promise<void> {
  const found = readPostmasterFile(clusterDir)
  if (found === null) return
  if (isPostmasterOf(found.pid, clusterDir)) {
    log(`Stopping PostgreSQL (process ${found.pid}), left over from an earlier start`)
    await stopPostmaster(found.pid, clusterDir)
  }
  rmSync(join(clusterDir, 'postmaster.pid'), { force: true })
}

/** Stops the server with increasing force and returns when its process is gone. */
export async function stopPostmaster(pid: number, clusterDir: string): Promise<void> {
  for (const { signal, patienceMs } of STOP_SIGNALS) {
    if (!isPostmasterOf(pid, clusterDir)) return
    sendSignal(pid, signal)
    if (await isGone(pid, patienceMs)) return
  }
  throw new ProblemError(
    'internal',
    `PostgreSQL (process ${pid}) on ${clusterDir} does not end. Stop it by hand.`,
  )
}

function isPostmasterOf(pid: number, clusterDir: string): boolean {
  if (processStart(pid) === null) return false
  const command = commandLine(pid)
  if (command === null) return false
  const program = basename(command.split(' -D ')[0] ?? '')
  return program.startsWith('postgres') && command.includes(` -D ${clusterDir} `)
}

async function isGone(pid: number, patienceMs: number): Promise<boolean> {
  const deadline = performance.now() + patienceMs
  while (processStart(pid) !== null) {
    if (performance.now() > deadline) return false
    await sleep(POLL_MS)
  }
  return true
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // It ended by itself in between.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
