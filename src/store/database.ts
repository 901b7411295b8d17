/** A connection pool whose values keep every digit: 64-bit integers and ids arrive as text, instants as ISO text. */
import { Pool, types as driverTypes } from 'pg'
import type { CustomTypesConfig } from 'pg'
import { parseJson } from '../lib/exact-json.ts'

const { builtins } = driverTypes

/** `2026-11-15 20:00:00.123456+00` to `2026-11-15T20:00:00.123Z`. Sessions run in UTC. */
const isoInstant = (text: string): string =>
  new Date(text.replace(' ', 'T').replace(/\+00$/, 'Z')).toISOString()

const types: CustomTypesConfig = {
  getTypeParser: ((oid: Parameters<typeof driverTypes.getTypeParser>[0], format?: 'text' | 'binary') => {
    if (oid === builtins.JSON || oid === builtins.JSONB) return parseJson
    if (oid === builtins.TIMESTAMPTZ) return isoInstant
    return driverTypes.getTypeParser(oid, format)
  }) as CustomTypesConfig['getTypeParser'],
}

export interface DatabaseOptions {
  readonly url: string
  readonly maxConnections: number
  readonly onError: (error: Error) => void
}

export type Database = Pool

export const openDatabase = ({ url, maxConnections, onError }: DatabaseOptions): Database => {
  const pool = new Pool({
    connectionString: url,
    max: maxConnections,
    types,
    options: '-c timezone=UTC',
    application_name: 'noetl',
    idleTimeoutMillis: 60_000,
  })
  // A connection that breaks while idle is replaced by the pool; without a listener it would end the process.
  // While the pool is being closed a broken connection is what is wanted.
  pool.on('error', (error) => {
    if (!pool.ending) onError(error)
  })
  return pool
}
