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

const WHERE = 'Say where it is with --data-dir, name a running server with --server'

/** A directory that another process is just preparing counts: its server can be waited for. */
export const refuseMissingData = ({ dataDir, databaseUrls }: Place): void => {
  if (databaseUrls.length > 0 || isDirectory(clusterDirectory(dataDir))) return
  if (isDirectory(dataDir) && isLocked(dataDir)) return
  throw new ProblemError(
    'not_found',
    `No server is running, and there is no NoETL data in ${dataDir}. ${WHERE}, or start a new one with: noetl up`,
  )
}

/** The first token may come before the first start, but not in a place that nobody chose. */
export const refuseMissingDirectory = ({ dataDir, databaseUrls }: Place): void => {
  if (databaseUrls.length > 0 || isDirectory(dataDir)) return
  throw new ProblemError(
    'not_found',
    `No server is running, and the data directory ${dataDir} does not exist: nobody would ask for this token. ` +
      `${WHERE}, or start a new one with: noetl up. ` +
      `To make a token before the first start, make the directory first: mkdir -p '${dataDir}'`,
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
