/**
 * Applies the numbered SQL files in order, each in one transaction.
 *
 * 1. Two servers that start at once apply every file once (an advisory lock serialises them).
 * 2. A file that was applied is never edited: its checksum is recorded and compared.
 * 3. A database that knows more files than this program is refused, not damaged.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { Client } from 'pg'
import { ProblemError } from '../contract/problem.ts'

interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

const FOLDER = new URL('./migrations/', import.meta.url)
const LOCK_KEY = 7_203_311
/** A machine that drops what is sent to it would be waited for for minutes. */
const ANSWERS_WITHIN_MS = 15_000

export const loadMigrations = (): readonly Migration[] =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const sql = readFileSync(new URL(file, FOLDER), 'utf8')
      const checksum = createHash('sha256').update(sql).digest('hex')
      return { number: Number.parseInt(file, 10), name: file, sql, checksum }
    })

/** Brings the database to the newest schema; answers the names of the files it applied. */
export const migrate = async (connectionString: string): Promise<readonly string[]> => {
  const client = new Client({ connectionString, connectionTimeoutMillis: ANSWERS_WITHIN_MS })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK_KEY])
    return await applyMissing(client, loadMigrations())
  } finally {
    await client.end()
  }
}

const applyMissing = async (client: Client, migrations: readonly Migration[]): Promise<readonly string[]> => {
  await client.query('create schema if not exists noetl')
  await client.query(`create table if not exists noetl.migration (
    number integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`)
  const { rows } = await client.query<{ number: number; name: string; checksum: string }>(
    'select number, name, checksum from noetl.migration order by number',
  )
  const known = new Map(migrations.map((migration) => [migration.number, migration]))
  for (const row of rows) {
    const migration = known.get(row.number)
    if (!migration) {
      throw new ProblemError(
        'conflict',
        `The database has migration ${row.name}, which this version of NoETL does not know. Run a newer NoETL.`,
      )
    }
    if (migration.checksum !== row.checksum) {
      throw new ProblemError(
        'conflict',
        `Migration ${row.name} was changed after it was applied. Restore the file; changes need a new number.`,
      )
    }
  }
  const applied = new Set(rows.map((row) => row.number))
  const missing = migrations.filter((migration) => !applied.has(migration.number))
  for (const migration of missing) await applyOne(client, migration)
  return missing.map((migration) => migration.name)
}

const applyOne = async (client: Client, { number, name, sql, checksum }: Migration): Promise<void> => {
  try {
    await client.query('begin')
    await client.query(sql)
    await client.query('insert into noetl.migration (number, name, checksum) values ($1, $2, $3)', [
      number,
      name,
      checksum,
    ])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw new Error(`Migration ${name} failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}
