/** Settings of a server, from flags over environment over defaults. The environment is read in main.ts, once. */
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { ProblemError } from '../contract/problem.ts'
import { machineIdOf } from '../lib/snowflake.ts'

export type Env = Readonly<Record<string, string | undefined>>

export interface Settings {
  readonly host: string
  /** 0 asks the system for a free port. */
  readonly port: number
  readonly dataDir: string
  /** Commands the worker in this process runs at once; 0 starts no worker. */
  readonly slots: number
  /** Databases to use instead of the embedded one; several are shards. */
  readonly databaseUrls: readonly string[]
  readonly machineId: number
  readonly encryptionKey: string | null
  readonly pgBinDir: string | null
  readonly python: string | null
  readonly logLevel: string
}

export interface Flags {
  readonly host?: string | undefined
  readonly port?: string | undefined
  readonly dataDir?: string | undefined
  readonly slots?: string | undefined
}

export const DEFAULTS = { host: '127.0.0.1', port: 8082, dataDir: '.noetl', slots: 32 } as const

export const readSettings = (flags: Flags, env: Env, shardUrls: (text: string) => readonly string[]): Settings => {
  const host = flags.host ?? env['NOETL_HOST'] ?? DEFAULTS.host
  if (host.trim() === '') throw new ProblemError('invalid', '--host (NOETL_HOST) is empty; give a name or an address such as 127.0.0.1')
  return {
    host,
    port: wholeNumber('--port (NOETL_PORT)', flags.port ?? env['NOETL_PORT'], DEFAULTS.port, 0, 65_535),
    dataDir: resolve(flags.dataDir ?? env['NOETL_DATA_DIR'] ?? DEFAULTS.dataDir),
    slots: wholeNumber('--slots (NOETL_SLOTS)', flags.slots ?? env['NOETL_SLOTS'], DEFAULTS.slots, 0, 10_000),
    databaseUrls: env['NOETL_SHARDS'] ? shardUrls(env['NOETL_SHARDS']) : env['NOETL_DATABASE_URL'] ? [env['NOETL_DATABASE_URL']] : [],
    machineId: wholeNumber('NOETL_SERVER_MACHINE_ID', env['NOETL_SERVER_MACHINE_ID'], machineIdOf(hostName(env)), 0, 1023),
    encryptionKey: env['NOETL_ENCRYPTION_KEY'] ?? null,
    pgBinDir: env['NOETL_PG_BIN'] ?? null,
    python: env['NOETL_PYTHON'] ?? env['PYTHON_PATH'] ?? null,
    logLevel: env['NOETL_LOG_LEVEL'] ?? 'warn',
  }
}

const hostName = (env: Env): string => env['HOSTNAME'] ?? env['COMPUTERNAME'] ?? (hostname() || 'noetl-server-local')

const wholeNumber = (name: string, text: string | undefined, fallback: number, min: number, max: number): number => {
  if (text === undefined) return fallback
  const value = Number(text)
  if (text.trim() === '' || !Number.isInteger(value) || value < min || value > max) {
    throw new ProblemError('invalid', `${name} must be a whole number from ${min} to ${max}, got '${text}'`)
  }
  return value
}
