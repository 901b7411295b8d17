/**
 * Runs one statement and gives its result as JSON.
 *
 * 1. A statement has rows when it is a query or says RETURNING; others have a count of what they changed.
 * 2. Rows come in chunks and are counted: a result above the budget is given up before it fills the memory.
 */
import type { Json, JsonObject } from '../../../contract/json.ts'
import type { Statement } from '../postgres/statement-text.ts'
import { resultTooLarge } from '../postgres/postgres-error.ts'
import { bindParams } from './bind-params.ts'
import type { DuckdbConnection, DuckdbDriver, DuckdbResult, DuckdbType } from './driver.ts'
import { readerOf } from './values.ts'

export interface RunOptions {
  readonly driver: DuckdbDriver
  readonly connection: DuckdbConnection
  readonly asObjects: boolean
  /** Bytes that the rows of the whole call may take. */
  readonly budget: { readonly limit: number; used: number }
  readonly signal: AbortSignal
}

export interface StatementResult {
  readonly hasRows: boolean
  readonly fields: JsonObject
  /** True for BEGIN, COMMIT and their like. */
  readonly isTransaction: boolean
}

/** Per cell, for what the value costs beside its text. */
const CELL_BYTES = 16

const sizeOf = (value: Json): number => {
  if (typeof value === 'string') return value.length + CELL_BYTES
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length + CELL_BYTES : CELL_BYTES
}

const toObject = (columns: readonly string[], cells: readonly Json[]): JsonObject =>
  Object.fromEntries(columns.map((name, index) => [name, cells[index] as Json]))

/** Rows as lists of JSON values, chunk by chunk. */
export const jsonChunks = async function* (
  driver: DuckdbDriver,
  result: DuckdbResult,
  signal: AbortSignal,
): AsyncGenerator<Json[][]> {
  const readers = result.columnTypes().map((type: DuckdbType) => readerOf(driver, type))
  for (;;) {
    signal.throwIfAborted()
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) return
    yield chunk
      .getRows()
      .map((row) => row.map((value, index) => (readers[index] as (typeof readers)[number])(value)))
  }
}

const streamStatement = (
  { driver, connection }: Pick<RunOptions, 'driver' | 'connection'>,
  { text, values }: Statement,
): Promise<DuckdbResult> => {
  if (values.length === 0) return connection.stream(text)
  const bound = bindParams(driver, values)
  return connection.stream(text, bound.values, bound.types as DuckdbType[])
}

export const runStatement = async (statement: Statement, options: RunOptions): Promise<StatementResult> => {
  const { driver, asObjects, budget, signal } = options
  const result = await streamStatement(options, statement)
  const isTransaction = result.statementType === driver.StatementType.TRANSACTION
  const isQuery = result.returnType === driver.ResultReturnType.QUERY_RESULT
  if (!isQuery) {
    const changed = result.rowsChanged
    return { hasRows: false, isTransaction, fields: { affected_rows: changed, row_count: changed } }
  }
  const columns = result.columnNames()
  const rows: Json[] = []
  for await (const chunk of jsonChunks(driver, result, signal)) {
    for (const cells of chunk) {
      for (const cell of cells) budget.used += sizeOf(cell)
      if (budget.used > budget.limit) throw resultTooLarge(budget.limit)
      rows.push(asObjects ? toObject(columns, cells) : cells)
    }
  }
  return { hasRows: true, isTransaction, fields: { columns, rows, row_count: rows.length } }
}
