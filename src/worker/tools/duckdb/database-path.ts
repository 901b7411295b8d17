/**
 * Which database a call works on.
 *
 * 1. `database` (or `db_path`) names a file, relative to where the worker was started, or `:memory:`.
 * 2. Without it the call uses the file of its execution: what one step writes the next one finds.
 * 3. The file of an execution is deleted a week after it was last written; nothing tells a worker when an execution, which
 *    may be resumed, is over for good.
 */
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import type { JsonObject } from '../../../contract/json.ts'
import { booleanField, textField } from '../coerce.ts'
import { type DuckdbDatabase, IN_MEMORY } from './engine.ts'

const KEEP_MS = 7 * 24 * 3_600_000
const SWEEP_EVERY_MS = 3_600_000
const FILE = /^execution-\d+\.duckdb(?:\.wal)?$/

/** Deletes files of executions that were not written since. Never fails: another worker may be faster. */
export const sweepExecutionFiles = async (directory: string, before: number): Promise<void> => {
  const names = await readdir(directory).catch(() => [])
  for (const name of names.filter((each) => FILE.test(each))) {
    const path = join(directory, name)
    const facts = await stat(path).catch(() => null)
    if (facts !== null && facts.mtimeMs < before) await rm(path, { force: true }).catch(() => undefined)
  }
}

export interface DatabasePaths {
  of(config: JsonObject, executionId: string): Promise<DuckdbDatabase>
}

/** The files of executions are in a folder of the data directory; relative paths start at `directory`. */
export const createDatabasePaths = (
  dataDirectory: string,
  directory: string = process.cwd(),
): DatabasePaths => {
  const folder = join(dataDirectory, 'duckdb')
  let sweptAt = -Infinity

  const ofExecution = async (executionId: string): Promise<string> => {
    await mkdir(folder, { recursive: true })
    const now = Date.now()
    if (now - sweptAt > SWEEP_EVERY_MS) {
      sweptAt = now
      await sweepExecutionFiles(folder, now - KEEP_MS)
    }
    return join(folder, `execution-${executionId}.duckdb`)
  }

  return {
    async of(config, executionId) {
      const readOnly = booleanField(config, false, 'read_only')
      const named = textField(config, 'database', 'db_path', 'database_path')
      if (named === null) return { path: await ofExecution(executionId), readOnly: false }
      return named.trim() === IN_MEMORY
        ? { path: IN_MEMORY, readOnly: false }
        : { path: resolve(directory, named), readOnly }
    },
  }
}
