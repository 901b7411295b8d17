/**
 * Where the server's Unix socket lies: a directory only this user can enter, since the server trusts every connection.
 *
 * 1. `<dataDir>/socket` where the path fits; the kernel allows a socket path of about a hundred bytes.
 * 2. Otherwise a short directory below the system's temporary one, always the same for the same data directory.
 * 3. A directory of that name which somebody else made, or others can enter, is refused.
 */
import { createHash } from 'node:crypto'
import { chownSync, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ProblemError } from '../../contract/problem.ts'
import type { Owner } from './run-as.ts'

export interface SocketDirectory {
  readonly path: string
  /** True when it lies outside the data directory and has to be removed by itself. */
  readonly outside: boolean
}

/** The number only names the socket file; nothing listens on the network. */
export const SOCKET_PORT = 5432

const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103

export function prepareSocketDirectory(dataDir: string, owner: Owner | null): SocketDirectory {
  const chosen = chooseSocketDirectory(dataDir)
  const made = mkdirIfAbsent(chosen.path)
  const allowedOwners = [process.getuid?.(), owner?.uid]
  const found = lstatSync(chosen.path)
  const isPrivate = found.isDirectory() && allowedOwners.includes(found.uid) && (found.mode & 0o077) === 0
  if (!isPrivate) {
    throw new ProblemError(
      'unavailable',
      `${chosen.path} is needed for the database socket, but another user made it or can enter it. ` +
        'Remove it, or choose another data directory with --data-dir.',
    )
  }
  if (made && owner !== null) chownSync(chosen.path, owner.uid, owner.gid)
  return chosen
}

function mkdirIfAbsent(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

export function chooseSocketDirectory(dataDir: string): SocketDirectory {
  const inside = join(dataDir, 'socket')
  if (fits(inside)) return { path: inside, outside: false }
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
  const name = `noetl-${process.getuid?.() ?? 0}-${hash}`
  const outside = [join(tmpdir(), name), join('/tmp', name)].find(fits)
  if (outside !== undefined) return { path: outside, outside: true }
  throw new ProblemError(
    'unavailable',
    `The path ${dataDir} is too long for a database socket. Choose a shorter one with --data-dir.`,
  )
}

function fits(directory: string): boolean {
  return Buffer.byteLength(join(directory, `.s.PGSQL.${SOCKET_PORT}`)) <= MAX_SOCKET_PATH_BYTES
}
