/**
 * Commands that need data which is there already. To make a database only to find nothing in it would take a while, leave a
 * directory behind wherever a name was mistyped, and hide the mistake.
 */
import { statSync } from 'node:fs'
import { ProblemError } from '../contract/problem.ts'
import { clusterDirectory } from '../store/embedded/cluster.ts'
import { isLocked } from '../store/embedded/lock.ts'
import type { Settings } from './settings.ts'

type Place = Pick<Settings, 'dataDir' | 'databaseUrls'>

/** A directory that another process is just preparing counts: its server can be waited for. */
export const hasData = ({ dataDir, databaseUrls }: Place): boolean =>
  databaseUrls.length > 0 ||
  isDirectory(clusterDirectory(dataDir)) ||
  (isDirectory(dataDir) && isLocked(dataDir))

export const refuseMissingData = (place: Place): void => {
  if (hasData(place)) return
  const { dataDir } = place
  throw new ProblemError(
    'not_found',
    `No server is running, and there is no NoETL data in ${dataDir}. ` +
      'Say where it is with --data-dir, name a running server with --server, or start a new one with: noetl up',
  )
}

const isDirectory = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    // Not ours to look at: whoever goes there is told so.
    return true
  }
}
