/** SQL that an admin typed. It runs alone on a connection whose settings end with it. */
import type { Database } from './database.ts'

export interface RawSql {
  readonly text: string
  readonly parameters: readonly unknown[]
  /** Where unqualified names are looked for; null for the usual place. */
  readonly schema: string | null
  readonly timeoutMs: number
  readonly maxRows: number
}

export interface RawSqlResult {
  readonly rows: readonly Record<string, unknown>[]
  readonly command: string
  readonly rowCount: number | null
  readonly truncated: boolean
}

/** One transaction: all of it or nothing. */
export const runRawSql = async (database: Database, sql: RawSql): Promise<RawSqlResult> => {
  const client = await database.connect()
  try {
    await client.query('begin')
    await client.query(`select set_config('statement_timeout', $1, true)`, [String(sql.timeoutMs)])
    if (sql.schema !== null)
      await client.query(`select set_config('search_path', quote_ident($1), true)`, [sql.schema])
    const answer = await client.query<Record<string, unknown>>(sql.text, [...sql.parameters])
    // Several statements answer a list; the last one that gave rows counts.
    const results = Array.isArray(answer) ? (answer as (typeof answer)[]) : [answer]
    const last = results.findLast(({ fields }) => fields.length > 0) ?? results.at(-1) ?? answer
    await client.query('commit')
    const rows = last.rows.slice(0, sql.maxRows)
    return { rows, command: last.command, rowCount: last.rowCount, truncated: rows.length < last.rows.length }
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  } finally {
    client.release()
  }
}

/** Which of these tables of ours exist. */
export const existingTables = async (
  database: Database,
  names: readonly string[],
): Promise<ReadonlySet<string>> => {
  const { rows } = await database.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'noetl' and tablename = any ($1)`,
    [names],
  )
  return new Set(rows.map(({ name }) => name))
}
