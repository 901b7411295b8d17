/**
 * Makes a data directory with the directories above it, one at a time.
 *
 * 1. A place that takes no directories is an error that names it. (Where the system answers to making one that its
 *    parent does not exist, though it does, as in /proc, a recursive mkdir would try for ever.)
 * 2. A directory that somebody else makes meanwhile is as good as one made here.
 */
import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ProblemError } from '../../contract/problem.ts'

export function makeDirectory(path: string): string {
  const absolute = resolve(path)
  try {
    makeWithParents(absolute)
    return absolute
  } catch (cause) {
    throw new ProblemError(
      'unavailable',
      `Data directory ${absolute} cannot be made: ${(cause as Error).message}. Choose another with --data-dir.`,
      { cause },
    )
  }
}

function makeWithParents(directory: string): void {
  const found = statSync(directory, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) return
  if (found !== undefined) throw new Error(`${directory} is not a directory`)
  const parent = dirname(directory)
  makeWithParents(parent)
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return
    // The parent is there, so the system means that it takes none.
    if (code === 'ENOENT') throw new Error(`${parent} takes no directories`, { cause: error })
    throw error
  }
}
