/** The file that receives what PostgreSQL prints: `<dataDir>/postgres.log`, the previous one kept as `.1`. */
import { closeSync, fchownSync, fstatSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Owner } from './run-as.ts'

const ROTATE_AT_BYTES = 10 * 1024 * 1024
const TAIL_LINES = 20

export interface ServerLog {
  readonly path: string
  readonly descriptor: number
  /** The last lines written since the log was opened. */
  tail(): string
  close(): void
}

export function openServerLog(dataDir: string, owner: Owner | null): ServerLog {
  const path = join(dataDir, 'postgres.log')
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > ROTATE_AT_BYTES) renameSync(path, `${path}.1`)
  const descriptor = openSync(path, 'a', 0o600)
  if (owner !== null) fchownSync(descriptor, owner.uid, owner.gid)
  const startedAt = fstatSync(descriptor).size
  return {
    path,
    descriptor,
    tail: () => {
      const written = readFileSync(path).subarray(startedAt).toString('utf8').trimEnd()
      return written.split('\n').slice(-TAIL_LINES).join('\n')
    },
    close: () => closeSync(descriptor),
  }
}
