/**
 * Runs one statement and gives its result as JSON.
 *
 * 1. A statement has rows when the server describes some, whatever its first word: RETURNING, SHOW and EXPLAIN too.
 * 2. Rows are objects in the order of the columns, or lists when asked. Of columns with the same name an object keeps
 *    the last.
 * 3. Rows are counted while they arrive: a result above the budget is given up before it fills the memory.
 */
import pg from 'pg'

import type { Json, JsonObject } from '../../../contract/json.ts'
import { bindValues } from './bind-values.ts'
import { databaseFailure, resultTooLarge } from './postgres-error.ts'
import type { Statement } from './statement-text.ts'
import { readerOf } from './values.ts'

export interface RunOptions {
  readonly client: pg.PoolClient
  readonly asObjects: boolean
  /** Bytes that the rows of the whole call may take. */
  readonly budget: { readonly limit: number; used: number }
  /** Called once, as soon as the budget is used up: the rest of the rows is not wanted. */
  readonly onTooLarge: () => void
}

export interface StatementResult {
  readonly hasRows: boolean
  readonly fields: JsonObject
}

/** Statements whose count says how many rows they changed, beside those they show. */
const CHANGES: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

/** Per cell, for what the value costs beside its text. */
const CELL_BYTES = 16

const toObject = (columns: readonly string[], cells: readonly Json[]): JsonObject => {
  const row: Record<string, Json> = {}
  for (let index = 0; index < columns.length; index += 1) {
    const name = columns[index] as string
    if (name === '__proto__') Object.defineProperty(row, name, { value: cells[index], enumerable: true })
    else row[name] = cells[index] as Json
  }
  return row
}

const resultOf = (
  result: pg.QueryArrayResult,
  rows: readonly Json[][],
  asObjects: boolean,
): StatementResult => {
  const columns = result.fields.map((field) => field.name)
  const changed = result.rowCount ?? 0
  // A select of no columns at all still has rows; a table made from a select has a count and none.
  if (columns.length === 0 && rows.length === 0) {
    return { hasRows: false, fields: { affected_rows: changed, row_count: changed } }
  }
  return {
    hasRows: true,
    fields: {
      columns,
      rows: asObjects ? rows.map((cells) => toObject(columns, cells)) : rows,
      row_count: rows.length,
      ...(CHANGES.has(result.command) ? { affected_rows: changed } : {}),
    },
  }
}

const execute = (
  { text, values }: { readonly text: string; readonly values: (string | null)[] },
  { client, asObjects, budget, onTooLarge }: RunOptions,
): Promise<StatementResult> =>
  new Promise((resolve, reject) => {
    const rows: Json[][] = []
    const read = (typeId: number): ((cell: string) => Json) => {
      const reader = readerOf(typeId)
      return (cell) => {
        budget.used += cell.length + CELL_BYTES
        return reader(cell)
      }
    }
    const isOver = (): boolean => budget.used > budget.limit
    let given = false
    const query = new pg.Query({
      text,
      values,
      rowMode: 'array',
      types: { getTypeParser: read },
    } as unknown as pg.QueryConfig)
    query.on('row', (row: unknown) => {
      if (!isOver()) rows.push(row as Json[])
      else if (!given) {
        given = true
        rows.length = 0
        onTooLarge()
      }
    })
    query.on('error', (error: Error) => reject(isOver() ? resultTooLarge(budget.limit) : error))
    query.on('end', (results: pg.QueryArrayResult | pg.QueryArrayResult[]) => {
      const result = Array.isArray(results) ? results.at(-1) : results
      if (isOver()) reject(resultTooLarge(budget.limit))
      else resolve(resultOf(result as pg.QueryArrayResult, rows, asObjects))
    })
    client.query(query)
  })

export const runStatement = async (
  { text, values }: Statement,
  options: RunOptions,
): Promise<StatementResult> => {
  try {
    const bound = await bindValues(options.client, text, values)
    return await execute({ text, values: bound }, options)
  } catch (error) {
    throw databaseFailure(error, text)
  }
}
