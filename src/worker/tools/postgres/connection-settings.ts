/**
 * Which server a call talks to, and as whom.
 *
 * 1. Layers, each filling what those before leave open: fields of the tool block, its connection string, fields of the
 *    credential, its connection string, defaults. Nothing comes from the worker's own environment.
 * 2. Equal settings have equal keys, and so share their connections; a key does not reveal a password.
 * 3. `sslmode` means what it means elsewhere: `prefer`, the default, encrypts when the server can; `require` encrypts;
 *    `verify-ca` and `verify-full` also check who answers.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { ConnectionOptions } from 'node:tls'

import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'
import { credentialFields, integerField, textField } from '../coerce.ts'
import { parseConnectionString } from './connection-fields.ts'

export interface ConnectionSettings {
  readonly key: string
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  /** False for none; `optional` when the server may refuse it. */
  readonly tls: false | { readonly optional: boolean; readonly options: ConnectionOptions }
  /** Command-line options for the session, as `options` of a connection string. */
  readonly options: string | null
  readonly applicationName: string
  readonly maxConnections: number
}

const DEFAULT_PORT = 5432
const DEFAULT_CONNECTIONS = 10

const LONGEST_PATH = 300

const CONNECTION_STRINGS = ['connection_string', 'dsn', 'url', 'uri', 'database_url'] as const

const layersOf = (fields: JsonObject): JsonObject[] => {
  const { connection } = fields
  const text =
    textField(fields, ...CONNECTION_STRINGS) ?? (typeof connection === 'string' ? connection : null)
  return [
    fields,
    ...(isObject(connection) ? layersOf(connection) : []),
    ...(text === null || text.trim() === '' ? [] : [parseConnectionString(text)]),
  ]
}

const pemOf = async (value: string | null): Promise<string | undefined> => {
  if (value === null || value === 'system') return undefined
  if (value.includes('-----BEGIN')) return value
  try {
    return await readFile(value, 'utf8')
  } catch (error) {
    // What is no path may be the key itself.
    const what = /\s/.test(value) || value.length > LONGEST_PATH ? 'the certificate or key' : value
    throw configFailure(`Cannot read ${what}: ${(error as NodeJS.ErrnoException).code}`)
  }
}

const modeOf = (sslmode: string | null, ssl: Json | undefined): string => {
  if (sslmode !== null) return sslmode.toLowerCase()
  if (ssl === true || ssl === 'true' || isObject(ssl)) return 'require'
  return ssl === false || ssl === 'false' ? 'disable' : 'prefer'
}

const tlsOf = async (
  read: (...names: readonly string[]) => string | null,
  ssl: Json | undefined,
  host: string,
): Promise<ConnectionSettings['tls']> => {
  const mode = modeOf(read('sslmode', 'ssl_mode'), ssl)
  // There is nobody to listen in on a socket of this machine.
  if (mode === 'disable' || host.startsWith('/')) return false
  const rootCertificate = read('sslrootcert')
  const [ca, cert, key] = await Promise.all([
    pemOf(rootCertificate),
    pemOf(read('sslcert')),
    pemOf(read('sslkey')),
  ])
  const files = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  }
  const encrypted = (options: ConnectionOptions, optional = false): ConnectionSettings['tls'] => ({
    optional,
    options: { ...files, ...options },
  })
  const anyName = { rejectUnauthorized: true, checkServerIdentity: () => undefined }
  if (mode === 'allow' || mode === 'prefer') return encrypted({ rejectUnauthorized: false }, true)
  if (mode === 'no-verify') return encrypted({ rejectUnauthorized: false })
  if (mode === 'require') return encrypted(rootCertificate === null ? { rejectUnauthorized: false } : anyName)
  if (mode === 'verify-ca') return encrypted(anyName)
  if (mode === 'verify-full') return encrypted({ rejectUnauthorized: true })
  throw configFailure(
    `sslmode must be disable, allow, prefer, require, verify-ca or verify-full, not "${mode}"`,
  )
}

const portOf = (layers: readonly JsonObject[]): number => {
  for (const layer of layers) {
    const port = integerField(layer, 'port', 1) ?? integerField(layer, 'db_port', 1)
    if (port !== null) return port
  }
  return DEFAULT_PORT
}

export const connectionSettings = async (config: JsonObject): Promise<ConnectionSettings> => {
  const layers = [...layersOf(config), ...layersOf(credentialFields(config) ?? {})]
  const read = (...names: readonly string[]): string | null => {
    for (const layer of layers) {
      const text = textField(layer, ...names)
      if (text !== null) return text
    }
    return null
  }
  const pool: JsonObject = isObject(config['pool']) ? config['pool'] : {}
  const host = read('host', 'db_host', 'hostaddr') ?? 'localhost'
  const ssl = layers.map((layer) => layer['ssl']).find((value) => value !== undefined && value !== null)
  const settings = {
    host,
    port: portOf(layers),
    user: read('user', 'username', 'db_user') ?? 'postgres',
    password: read('password', 'db_password') ?? '',
    database: read('database', 'dbname', 'db_name') ?? 'postgres',
    tls: await tlsOf(read, ssl, host),
    options: read('options'),
    applicationName: read('application_name') ?? 'noetl',
    maxConnections: integerField(pool, 'max_size', 1) ?? DEFAULT_CONNECTIONS,
  }
  const identity = JSON.stringify([settings, read('sslmode', 'ssl_mode'), textField(pool, 'name')])
  return { key: createHash('sha256').update(identity).digest('base64'), ...settings }
}

/** The schemas that unqualified names are looked up in; null leaves it to the server. */
export const searchPath = (config: JsonObject): string | null => {
  const named =
    textField(config, 'schema') ?? textField(credentialFields(config) ?? {}, 'schema', 'db_schema')
  if (named === null) return null
  return named
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .map((name) => (name.startsWith('"') ? name : `"${name.replaceAll('"', '""')}"`))
    .join(', ')
}
