/**
 * Where the server of a data directory listens, for commands that start beside it.
 *
 * 1. The file appears complete or not at all.
 * 2. A file whose process is gone counts as absent.
 * 3. It is taken back only by the process it names.
 * 4. It holds a token of an admin that lives as long as the server, so only the user who owns the data may read it;
 *    that user can read the data itself as well.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClientOptions } from '../client/transport.ts'
import { isSameProcess, processStart, UNKNOWN_START } from '../lib/process-identity.ts'
import { makeDirectory } from '../store/embedded/make-directory.ts'

export interface ServerRecord {
  readonly url: string
  /** `run`: it ends with the run that started it. */
  readonly kind: 'up' | 'run'
  readonly pid: number
  readonly processStart: string
  /** How this machine's commands are let in. */
  readonly access?: ClientOptions
}

const fileOf = (dataDir: string): string => join(dataDir, 'server.json')

/** Answers how to take it back. */
export const writeServerFile = (
  dataDir: string,
  url: string,
  kind: ServerRecord['kind'],
  access: ClientOptions = {},
): (() => void) => {
  const file = fileOf(dataDir)
  const record: ServerRecord = {
    url,
    kind,
    pid: process.pid,
    processStart: processStart(process.pid) ?? UNKNOWN_START,
    access,
  }
  // With a database of the user's own nothing may have needed the directory yet.
  makeDirectory(dataDir)
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(record)}\n`, { mode: 0o600 })
  renameSync(draft, file)
  return () => {
    if (readServerFile(dataDir)?.pid === process.pid) rmSync(file, { force: true })
  }
}

export const readServerFile = (dataDir: string): ServerRecord | null => {
  try {
    const record = JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as ServerRecord
    return isSameProcess(record.pid, record.processStart) ? record : null
  } catch {
    // Absent, or not ours: nobody is announced.
    return null
  }
}
