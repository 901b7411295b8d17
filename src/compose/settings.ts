/** Settings of a server, from flags over environment over defaults. The environment is read in main.ts, once. */
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { poolName } from '../cli/pool-name.ts'
import { ProblemError } from '../contract/problem.ts'
import { machineIdOf } from '../lib/snowflake.ts'
import { defaultStateCacheMb } from './memory.ts'
import type { OtlpSettings } from './otlp-settings.ts'
import { readOtlpSettings } from './otlp-settings.ts'
import type { AccessSettings } from './access-settings.ts'
import { readAccessSettings } from './access-settings.ts'
import type { ToolSettings } from './tool-settings.ts'
import { readToolSettings } from './tool-settings.ts'
import type { WakeUpSettings } from './wake-up-settings.ts'
import { readWakeUpSettings } from './wake-up-settings.ts'

export type Env = Readonly<Record<string, string | undefined>>

export interface Settings {
  readonly host: string
  /** 0 asks the system for a free port. */
  readonly port: number
  readonly dataDir: string
  /** Commands the worker in this process runs at once; 0 starts no worker. */
  readonly slots: number
  /** What the worker in this process can do besides having its tools. */
  readonly capabilities: readonly string[]
  /** Seconds that running commands get to finish when the process stops. */
  readonly graceSeconds: number
  /** Databases to use instead of the embedded one; several are shards. */
  readonly databaseUrls: readonly string[]
  readonly machineId: number
  /** Whether the machine id was given; otherwise it is what is asked for, and the next free one is taken. */
  readonly machineIdGiven: boolean
  readonly encryptionKey: string | null
  readonly previousEncryptionKey: string | null
  /** Whether what was sealed with a key that is lost is given up. Without it: not. */
  readonly encryptionKeyLost?: boolean
  /** Opens the internal routes; null keeps them closed. */
  readonly internalToken: string | null
  readonly pgBinDir: string | null
  readonly python: string | null
  readonly logLevel: LogLevel
  /** Whether admins may run SQL over HTTP. */
  readonly rawSql: boolean
  /** Whether numbers are kept and shown at /metrics. */
  readonly metrics: boolean
  /** Where traces go; null when nobody asked for them. */
  readonly otlp: OtlpSettings | null
  /** Seconds a worker keeps a command without a heartbeat. */
  readonly leaseSeconds: number
  /** What the states of executions may take of the memory, about. Without it: as much as suits the machine. */
  readonly stateCacheMb?: number
  /** Whether a fresh data directory gets the examples. */
  readonly examples: boolean
  /** Whether other machines may be served without access control. */
  readonly insecure: boolean
  readonly access: AccessSettings
  /** Without it: the defaults of the tools. */
  readonly tools?: ToolSettings
  /** Without it: no NATS, and nothing is written for others. */
  readonly wakeUps?: WakeUpSettings
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface Flags {
  readonly host?: string | undefined
  readonly port?: string | undefined
  readonly dataDir?: string | undefined
  readonly slots?: string | undefined
  readonly examples?: boolean | undefined
  readonly insecure?: boolean | undefined
}

export const DEFAULTS = {
  host: '127.0.0.1',
  port: 8082,
  dataDir: '.noetl',
  slots: 32,
  leaseSeconds: 60,
  graceSeconds: 10,
} as const

export const readSettings = (
  flags: Flags,
  env: Env,
  shardUrls: (text: string) => readonly string[],
): Settings => {
  const host = flags.host ?? env['NOETL_HOST'] ?? DEFAULTS.host
  if (host.trim() === '')
    throw new ProblemError(
      'invalid',
      '--host (NOETL_HOST) is empty; give a name or an address such as 127.0.0.1',
    )
  return {
    host,
    port: wholeNumber('--port (NOETL_PORT)', flags.port ?? env['NOETL_PORT'], DEFAULTS.port, 0, 65_535),
    dataDir: readDataDir(flags.dataDir, env),
    slots: readSlots(flags.slots, env, 0),
    capabilities: readCapabilities(undefined, env),
    graceSeconds: readGraceSeconds(undefined, env, DEFAULTS.graceSeconds),
    databaseUrls: env['NOETL_SHARDS']
      ? shardUrls(env['NOETL_SHARDS'])
      : env['NOETL_DATABASE_URL']
        ? [env['NOETL_DATABASE_URL']]
        : [],
    machineId: wholeNumber(
      'NOETL_SERVER_MACHINE_ID',
      env['NOETL_SERVER_MACHINE_ID'],
      machineIdOf(hostName(env)),
      0,
      1023,
    ),
    machineIdGiven: env['NOETL_SERVER_MACHINE_ID'] !== undefined,
    encryptionKey: env['NOETL_ENCRYPTION_KEY'] ?? null,
    previousEncryptionKey: env['NOETL_ENCRYPTION_KEY_PREVIOUS'] ?? null,
    encryptionKeyLost: yesOrNo('NOETL_ENCRYPTION_KEY_LOST', env['NOETL_ENCRYPTION_KEY_LOST'], false),
    internalToken: env['NOETL_INTERNAL_API_TOKEN'] ?? null,
    pgBinDir: env['NOETL_PG_BIN'] ?? null,
    python: env['NOETL_PYTHON'] ?? env['PYTHON_PATH'] ?? null,
    logLevel: readLogLevel(env),
    rawSql: yesOrNo('NOETL_RAW_SQL', env['NOETL_RAW_SQL'], false),
    metrics: !yesOrNo('NOETL_DISABLE_METRICS', env['NOETL_DISABLE_METRICS'], false),
    otlp: readOtlpSettings(env),
    leaseSeconds: wholeNumber(
      'NOETL_LEASE_SECONDS',
      env['NOETL_LEASE_SECONDS'],
      DEFAULTS.leaseSeconds,
      1,
      86_400,
    ),
    stateCacheMb: wholeNumber(
      'NOETL_STATE_CACHE_MB',
      env['NOETL_STATE_CACHE_MB'],
      defaultStateCacheMb(),
      1,
      1_048_576,
    ),
    examples: flags.examples ?? yesOrNo('NOETL_EXAMPLES', env['NOETL_EXAMPLES'], true),
    insecure: flags.insecure ?? yesOrNo('NOETL_INSECURE', env['NOETL_INSECURE'], false),
    access: readAccessSettings(env),
    tools: readToolSettings(env),
    wakeUps: readWakeUpSettings(env),
  }
}

/** An empty name, such as that of a variable that is not set, would be the working directory, and be filled. */
const readDataDir = (flag: string | undefined, env: Env): string => {
  const directory = flag ?? env['NOETL_DATA_DIR'] ?? DEFAULTS.dataDir
  if (directory.trim() !== '') return resolve(directory)
  throw new ProblemError(
    'invalid',
    `--data-dir (NOETL_DATA_DIR) is empty; name a directory, such as ${DEFAULTS.dataDir}`,
  )
}

const hostName = (env: Env): string =>
  env['HOSTNAME'] ?? env['COMPUTERNAME'] ?? (hostname() || 'noetl-server-local')

export const readSlots = (flag: string | undefined, env: Env, min: number): number =>
  wholeNumber('--slots (NOETL_SLOTS)', flag ?? env['NOETL_SLOTS'], DEFAULTS.slots, min, 10_000)

/** The pool a worker takes work from. */
export const readPool = (flag: string | undefined, env: Env): string =>
  poolName(flag ?? env['NOETL_POOL'] ?? 'shared')

/** Words separated by commas, such as `gpu,eu-west`. */
export const readCapabilities = (flag: string | undefined, env: Env): readonly string[] =>
  (flag ?? env['NOETL_CAPABILITIES'] ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

/** Seconds that running commands get to finish when their worker stops. */
export const readGraceSeconds = (flag: string | undefined, env: Env, fallback: number): number =>
  wholeNumber('--grace (NOETL_GRACE_SECONDS)', flag ?? env['NOETL_GRACE_SECONDS'], fallback, 0, 86_400)

/** Seconds that a worker waits for a server that is not there yet; null for without end. */
export const readWaitSeconds = (flag: string | undefined, env: Env): number | null => {
  const text = flag ?? env['NOETL_WORKER_WAIT']
  return text === undefined ? null : wholeNumber('--wait (NOETL_WORKER_WAIT)', text, 0, 0, 31_536_000)
}

export const readLogLevel = (env: Env): LogLevel => {
  const text = env['NOETL_LOG_LEVEL'] ?? 'warn'
  const level = LOG_LEVELS.find((name) => name === text.toLowerCase())
  if (level) return level
  throw new ProblemError('invalid', `NOETL_LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}, got '${text}'`)
}

const YES = ['true', '1', 'yes', 'on']
const NO = ['false', '0', 'no', 'off']

const yesOrNo = (name: string, text: string | undefined, fallback: boolean): boolean => {
  if (text === undefined || text === '') return fallback
  if (YES.includes(text.toLowerCase())) return true
  if (NO.includes(text.toLowerCase())) return false
  throw new ProblemError('invalid', `${name} must be true or false, got '${text}'`)
}

const wholeNumber = (
  name: string,
  text: string | undefined,
  fallback: number,
  min: number,
  max: number,
): number => {
  if (text === undefined) return fallback
  const value = Number(text)
  if (text.trim() === '' || !Number.isInteger(value) || value < min || value > max) {
    throw new ProblemError('invalid', `${name} must be a whole number from ${min} to ${max}, got '${text}'`)
  }
  return value
}
