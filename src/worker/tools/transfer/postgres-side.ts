/**
 * PostgreSQL as source and as target.
 *
 * 1. A source is read through a cursor: one chunk is in memory, whatever the query gives.
 * 2. A target is written in one transaction, each chunk by one statement that takes a list per column as text and casts
 *    it to the type of its column; nothing is cut to fit.
 * 3. `replace` empties the table in the same transaction. `upsert` writes over the row with the same key; of several
 *    rows with one key in a chunk the last counts, as it does between chunks.
 */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { ToolFailure } from '../../tool-failure.ts'
import { textField } from '../coerce.ts'
import { writeArray } from '../postgres/array-text.ts'
import type { ConnectionPools, PooledConnection } from '../postgres/connection-pools.ts'
import { connectionSettings } from '../postgres/connection-settings.ts'
import { bindNames } from '../postgres/named-params.ts'
import { databaseFailure } from '../postgres/postgres-error.ts'
import { readerOf } from '../postgres/values.ts'
import { watchAbort } from '../postgres/watch-abort.ts'
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

const CURSOR = 'noetl_transfer'
/** Source and target may be one table: waiting for its lock would then never end. */
const LOCK_WAIT = '60s'

type Client = PooledConnection['client']

interface Answer {
  readonly fields: readonly { readonly name: string }[]
  readonly rows: readonly unknown[][]
  /** The first word of what ran. */
  readonly command: string
}

type Query = (text: string, values?: unknown[]) => Promise<Answer>

/** Rows as lists; cells by a reader of their type. */
const queries =
  (client: Client, reader: (typeId: number) => (text: string) => Json): Query =>
  async (text, values = []) => {
    try {
      return await client.query({
        text,
        values,
        rowMode: 'array',
        types: { getTypeParser: reader },
      })
    } catch (error) {
      throw databaseFailure(error, text)
    }
  }

const asWritten = (): ((text: string) => Json) => (text) => text

const withConnection = async <T>(
  pools: ConnectionPools,
  side: JsonObject,
  signal: AbortSignal,
  work: (client: Client) => Promise<T>,
): Promise<T> => {
  const connection = await pools.acquire(await connectionSettings(side), signal)
  const unwatch = watchAbort(connection, signal)
  try {
    return await work(connection.client)
  } finally {
    unwatch()
    connection.release()
  }
}

/** `isServerText`: texts as the server wrote them, for another server. */
export const withPostgresSource = <T>(
  pools: ConnectionPools,
  side: JsonObject,
  { signal, chunkSize }: SideContext,
  isServerText: boolean,
  work: (source: RowSource) => Promise<T>,
): Promise<T> =>
  withConnection(pools, side, signal, async (client) => {
    const query = queries(client, isServerText ? asWritten : readerOf)
    await query('begin')
    await query(`declare ${CURSOR} no scroll cursor for ${sourceQuery(side)}`)
    const chunks = async function* (): AsyncGenerator<RowChunk> {
      for (let isFirst = true; ; isFirst = false) {
        signal.throwIfAborted()
        const { fields, rows } = await query(`fetch ${chunkSize} from ${CURSOR}`)
        if (rows.length > 0 || isFirst)
          yield { columns: fields.map(({ name }) => name), rows: rows as Json[][] }
        if (rows.length < chunkSize) return
      }
    }
    const result = await work({ chunks, isOpen: false, isServerText })
    // A query may have written, as a function in it can.
    await query('commit')
    return result
  })

interface Column {
  readonly name: string
  /** With its schema and quotes, without a length: casting must not cut. */
  readonly type: string
  readonly isBytes: boolean
  readonly isArray: boolean
}

const columnsOf = async (query: Query, table: string): Promise<readonly Column[]> => {
  const { rows } = await query(
    `select a.attname::text, format('%I.%I', n.nspname, t.typname), t.typname = 'bytea', t.typcategory = 'A'
     from pg_attribute a join pg_type t on t.oid = a.atttypid join pg_namespace n on n.oid = t.typnamespace
     where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum`,
    [quotedTable(table)],
  )
  return (rows as Json[][]).map(([name, type, isBytes, isArray]) => ({
    name: name as string,
    type: type as string,
    isBytes: isBytes === true,
    isArray: isArray === true,
  }))
}

const cellFor = (column: Column, value: Json, isServerText: boolean): string | null => {
  if (!isServerText && column.isArray && Array.isArray(value)) return writeArray(value)
  return cellText(value)
}

const valueOf = ({ isBytes, type }: Column, place: string, isServerText: boolean): string =>
  isBytes && !isServerText ? `decode(${place}, 'base64')` : `${place}::${type}`

const insertText = (
  table: string,
  columns: readonly Column[],
  { mode, key }: TargetOptions,
  isServerText: boolean,
): string => {
  const names = columns.map(({ name }) => quoteIdentifier(name))
  const places = columns.map((_, index) => `c${index}`)
  const rows = `unnest(${columns.map((_, index) => `$${index + 1}::text[]`).join(', ')}) with ordinality as r (${places.join(', ')}, place)`
  const values = columns.map((column, index) => valueOf(column, `r.c${index}`, isServerText)).join(', ')
  const insert = `insert into ${quotedTable(table)} (${names.join(', ')})`
  if (mode !== 'upsert') return `${insert} select ${values} from ${rows} order by r.place`
  const keyPlaces = key.map((name) => `r.c${columns.findIndex((column) => column.name === name)}`).join(', ')
  const others = columns.filter(({ name }) => !key.includes(name)).map(({ name }) => quoteIdentifier(name))
  const action =
    others.length === 0
      ? 'nothing'
      : `update set ${others.map((name) => `${name} = excluded.${name}`).join(', ')}`
  return `${insert} select distinct on (${keyPlaces}) ${values} from ${rows} order by ${keyPlaces}, r.place desc
    on conflict (${key.map(quoteIdentifier).join(', ')}) do ${action}`
}

/** Runs the statement of the author once for each row: `:column` by name, or `$1`, `$2`, … in order. */
const queryTarget = (query: Query, text: string): RowTarget => ({
  async write({ columns, rows }) {
    for (const row of rows) {
      const named = bindNames(text, Object.fromEntries(columns.map((name, at) => [name, row[at] ?? null])))
      const values = named.values.length > 0 ? named.values : /\$\d/.test(text) ? row : []
      await query(named.text, values.map(cellText))
    }
  },
})

const tableTarget = (
  query: Query,
  table: string,
  existing: readonly Column[],
  options: TargetOptions,
): RowTarget => {
  let wanted: readonly Column[] | null = null
  return {
    async write({ columns, rows }, isServerText) {
      if (wanted === null) {
        checkColumns(
          table,
          columns,
          existing.map(({ name }) => name),
        )
        checkKey(options.key, columns)
        wanted = columns.map((name) => existing.find((column) => column.name === name) as Column)
      }
      if (rows.length === 0) return
      const lists = wanted.map((column, at) =>
        rows.map((row) => cellFor(column, row[at] ?? null, isServerText)),
      )
      await query(insertText(table, wanted, options, isServerText), lists)
    },
  }
}

export const withPostgresTarget = async <T>(
  pools: ConnectionPools,
  side: JsonObject,
  { signal }: SideContext,
  options: TargetOptions,
  work: (target: RowTarget) => Promise<T>,
): Promise<T> => {
  const statement = textField(side, 'query')
  const table = statement === null || options.mode === 'replace' ? tableOf(side, 'target') : ''
  return withConnection(pools, side, signal, async (client) => {
    const query = queries(client, readerOf)
    await query('begin')
    if (options.mode === 'replace') {
      await query(`set local lock_timeout = '${LOCK_WAIT}'`)
      await query(`truncate ${quotedTable(table)}`)
    }
    const target =
      statement === null
        ? tableTarget(query, table, await columnsOf(query, table), options)
        : queryTarget(query, statement)
    const result = await work(target)
    signal.throwIfAborted()
    const { command } = await query('commit')
    // A transaction that failed inside answers a commit with a rollback.
    if (command !== 'COMMIT') throw rolledBack()
    return result
  })
}

const rolledBack = (): ToolFailure =>
  new ToolFailure({
    kind: 'db_error',
    code: 'ROLLED_BACK',
    message: 'The server rolled the transaction back; nothing was written',
    retryable: true,
  })
