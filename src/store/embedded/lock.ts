/**
 * One NoETL process per data directory. The lock is the file `noetl.pid`, which names its holder.
 *
 * 1. The file appears complete or not at all (written aside, then hard-linked), so a reader never sees half a lock.
 * 2. A lock whose holder no longer runs is taken over, also when its pid was given to another process since.
 * 3. Of several processes that find the same abandoned lock, one takes it over: each must first create a claim named
 *    after the abandoned holder, and looks again at the lock once it has the claim.
 * 4. Release removes the lock only while it is still ours.
 */
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { ProblemError } from '../../contract/problem.ts'
import { isSameProcess, processStart, UNKNOWN_START } from '../../lib/process-identity.ts'

export interface DirectoryLock {
  release(): void
}

interface Holder {
  readonly pid: number
  readonly processStart: string
  readonly startedAt: string
}

const LOCK_NAME = 'noetl.pid'

/** Takes the lock, or throws a `conflict` problem that names who has it. */
export function lockDirectory(dataDir: string): DirectoryLock {
  const lockFile = join(dataDir, LOCK_NAME)
  const own: Holder = {
    pid: process.pid,
    processStart: processStart(process.pid) ?? UNKNOWN_START,
    startedAt: new Date().toISOString(),
  }
  const ownText = `${JSON.stringify(own)}\n`
  const prepared = join(dataDir, `noetl.pid.${randomUUID()}`)
  prepareLock(dataDir, prepared, ownText)
  try {
    // Each round either takes the lock, meets a live holder, or follows a change made by a competitor.
    for (let round = 0; round < 100; round += 1) {
      if (linkIfAbsent(prepared, lockFile)) return { release: () => releaseLock(lockFile, ownText) }
      const found = readIfPresent(lockFile)
      if (found === null) continue
      refuseLiveHolder(dataDir, found)
      discardAbandoned(lockFile, prepared, found)
    }
  } finally {
    rmSync(prepared, { force: true })
  }
  throw new ProblemError(
    'conflict',
    `Data directory ${dataDir} is being started by other processes. Try again.`,
  )
}

/** Whether a process that runs holds the directory. */
export function isLocked(dataDir: string): boolean {
  const holder = parseHolder(readIfPresent(join(dataDir, LOCK_NAME)) ?? '')
  return holder !== null && isSameProcess(holder.pid, holder.processStart)
}

function prepareLock(dataDir: string, path: string, content: string): void {
  try {
    writeFileSync(path, content, { mode: 0o600 })
  } catch (cause) {
    const reason = (cause as Error).message
    throw new ProblemError('unavailable', `Data directory ${dataDir} cannot be written to: ${reason}`, {
      cause,
    })
  }
}

function refuseLiveHolder(dataDir: string, text: string): void {
  const holder = parseHolder(text)
  if (holder === null || !isSameProcess(holder.pid, holder.processStart)) return
  throw new ProblemError(
    'conflict',
    `Data directory ${dataDir} is in use by process ${holder.pid} (started ${holder.startedAt}). ` +
      'Stop it, or choose another with --data-dir.',
    { details: { dataDir, pid: holder.pid, startedAt: holder.startedAt } },
  )
}

/** Removes the abandoned lock, unless a competitor is doing so or has done so (invariant 3). */
function discardAbandoned(lockFile: string, prepared: string, abandoned: string): void {
  const claim = `${lockFile}.claim`
  if (!linkIfAbsent(prepared, claim)) {
    const claimant = parseHolder(readIfPresent(claim) ?? '')
    // A claim is held for an instant; one whose maker is gone was left by a crash within that instant.
    if (claimant !== null && !isSameProcess(claimant.pid, claimant.processStart))
      rmSync(claim, { force: true })
    return
  }
  try {
    if (readIfPresent(lockFile) === abandoned) rmSync(lockFile, { force: true })
  } finally {
    rmSync(claim, { force: true })
  }
}

function releaseLock(lockFile: string, ownText: string): void {
  if (readIfPresent(lockFile) === ownText) rmSync(lockFile, { force: true })
}

function parseHolder(text: string): Holder | null {
  try {
    const value = JSON.parse(text) as Partial<Holder>
    if (typeof value.pid !== 'number' || typeof value.processStart !== 'string') return null
    return { pid: value.pid, processStart: value.processStart, startedAt: String(value.startedAt) }
  } catch {
    // Not a lock of ours: nobody can be found behind it.
    return null
  }
}

function linkIfAbsent(existing: string, target: string): boolean {
  try {
    linkSync(existing, target)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
