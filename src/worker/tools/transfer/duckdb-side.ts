/**
 * DuckDB as source and as target: the same promises as for PostgreSQL. Cells travel as text and are cast to the type of
 * their column; a transaction makes the target all or nothing.
 */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { attachAll } from '../duckdb/attach.ts'
import type { DatabasePaths } from '../duckdb/database-path.ts'
import type { DuckdbEngine, DuckdbSession } from '../duckdb/engine.ts'
import { jsonChunks } from '../duckdb/run-statement.ts'
import { cellText, type RowChunk, type RowSource, type RowTarget } from './rows.ts'
import {
  checkColumns,
  checkKey,
  quotedTable,
  quoteIdentifier,
  type SideContext,
  sourceQuery,
  tableOf,
  type TargetOptions,
} from './side.ts'

export interface DuckdbSide {
  readonly engine: DuckdbEngine
  readonly paths: DatabasePaths
}

export const withDuckdbSource = async <T>(
  { engine, paths }: DuckdbSide,
  side: JsonObject,
  { signal, chunkSize, executionId, isInner }: SideContext,
  work: (source: RowSource) => Promise<T>,
): Promise<T> => {
  const read = async ({ driver, connection }: DuckdbSession): Promise<T> => {
    await attachAll(connection, side)
    const result = await connection.stream(sourceQuery(side))
    const columns = result.columnNames()
    const chunks = async function* (): AsyncGenerator<RowChunk> {
      let rows: Json[][] = []
      let isFirst = true
      for await (const part of jsonChunks(driver, result, signal)) {
        for (const row of part) {
          rows.push(row)
          if (rows.length < chunkSize) continue
          yield { columns, rows }
          rows = []
          isFirst = false
        }
      }
      if (rows.length > 0 || isFirst) yield { columns, rows }
    }
    return work({ chunks, isOpen: false, isServerText: false })
  }
  return engine.use(await paths.of(side, executionId), signal, read, isInner)
}

interface Column {
  readonly name: string
  readonly type: string
}

const columnsOf = async ({ connection }: DuckdbSession, table: string): Promise<readonly Column[]> => {
  const described = await connection.run(`describe ${quotedTable(table)}`)
  return (await described.getRows()).map(([name, type]) => ({ name: String(name), type: String(type) }))
}

/** Lists, structures and maps are read from their JSON. */
const NESTED = /[\])]$|^(?:STRUCT|MAP|UNION|JSON)/

const castOf = ({ type }: Column, place: string): string => {
  if (type === 'BLOB') return `from_base64(${place})`
  const isNested = NESTED.test(type) && !/^(?:DECIMAL|ENUM|VARCHAR|CHAR)/.test(type)
  return isNested ? `cast(cast(${place} as json) as ${type})` : `cast(${place} as ${type})`
}

const insertText = (table: string, columns: readonly Column[], { mode, key }: TargetOptions): string => {
  const lists = columns.map((_, index) => `unnest($${index + 1}) as c${index}`).join(', ')
  const rows = `(select ${lists}, generate_subscripts($1, 1) as place) as r`
  const values = columns.map((column, index) => castOf(column, `r.c${index}`)).join(', ')
  const names = columns.map(({ name }) => quoteIdentifier(name))
  const insert = `insert into ${quotedTable(table)} (${names.join(', ')})`
  if (mode !== 'upsert') return `${insert} select ${values} from ${rows} order by r.place`
  const places = key.map((name) => `r.c${columns.findIndex((column) => column.name === name)}`).join(', ')
  const others = columns.filter(({ name }) => !key.includes(name)).map(({ name }) => quoteIdentifier(name))
  const action =
    others.length === 0
      ? 'nothing'
      : `update set ${others.map((name) => `${name} = excluded.${name}`).join(', ')}`
  return `${insert} select ${values} from ${rows}
    qualify row_number() over (partition by ${places} order by r.place desc) = 1
    on conflict (${key.map(quoteIdentifier).join(', ')}) do ${action}`
}

const targetOf = (
  session: DuckdbSession,
  table: string,
  existing: readonly Column[],
  options: TargetOptions,
): RowTarget => {
  const { driver, connection } = session
  return {
    async write({ columns, rows }) {
      checkColumns(
        table,
        columns,
        existing.map(({ name }) => name),
      )
      checkKey(options.key, columns)
      if (rows.length === 0) return
      const wanted = columns.map((name) => existing.find((column) => column.name === name) as Column)
      const lists = wanted.map((_, at) => driver.listValue(rows.map((row) => cellText(row[at] ?? null))))
      const types = wanted.map(() => driver.LIST(driver.VARCHAR))
      await connection.run(insertText(table, wanted, options), lists, types)
    },
  }
}

export const withDuckdbTarget = async <T>(
  { engine, paths }: DuckdbSide,
  side: JsonObject,
  { signal, executionId, isInner }: SideContext,
  options: TargetOptions,
  work: (target: RowTarget) => Promise<T>,
): Promise<T> => {
  const table = tableOf(side, 'target')
  const write = async (session: DuckdbSession): Promise<T> => {
    const { connection } = session
    await attachAll(connection, side)
    const existing = await columnsOf(session, table)
    await connection.run('begin')
    if (options.mode === 'replace') await connection.run(`delete from ${quotedTable(table)}`)
    const result = await work(targetOf(session, table, existing, options))
    signal.throwIfAborted()
    // Without this the connection ends with the call, and with it the transaction.
    await connection.run('commit')
    return result
  }
  return engine.use(await paths.of(side, executionId), signal, write, isInner)
}
