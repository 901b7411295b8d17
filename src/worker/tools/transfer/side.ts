/**
 * What the two sides of a transfer have in common.
 *
 * 1. A failure says on which side it happened.
 * 2. A name of a table may have a schema (`sales.items`), and quotes where it needs them.
 */
import type { JsonObject } from '../../../contract/json.ts'
import { configFailure, ToolFailure } from '../../tool-failure.ts'
import { textField } from '../coerce.ts'

export type SideName = 'source' | 'target'
export type TransferMode = 'append' | 'replace' | 'upsert'

export interface SideContext {
  readonly signal: AbortSignal
  readonly chunkSize: number
  readonly executionId: string
  /** True when the other side has its turn at the embedded engine already. */
  readonly isInner: boolean
}

export interface TargetOptions {
  readonly mode: TransferMode
  /** Columns that say which row is meant; only for upsert. */
  readonly key: readonly string[]
}

export const onSide = async <T>(side: SideName, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (thrown) {
    if (!(thrown instanceof ToolFailure) || /^(?:source|target): /.test(thrown.message)) throw thrown
    throw new ToolFailure({ ...thrown.error, message: `${side}: ${thrown.error.message}` }, { cause: thrown })
  }
}

const NAME_PART = /"((?:[^"]|"")+)"|([^".\s]+)/y

/** The parts of a table's name: as they are when quoted, in small letters otherwise, as PostgreSQL reads them. */
const tableParts = (name: string): readonly string[] => {
  const parts: string[] = []
  let at = 0
  const text = name.trim()
  for (;;) {
    NAME_PART.lastIndex = at
    const match = NAME_PART.exec(text)
    if (match === null) break
    parts.push(match[1]?.replaceAll('""', '"') ?? (match[2] as string).toLowerCase())
    at = NAME_PART.lastIndex
    if (at === text.length) return parts
    if (text[at] !== '.') break
    at += 1
  }
  throw configFailure(`${JSON.stringify(name)} is not the name of a table; write items or schema.items`)
}

export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`

export const quotedTable = (name: string): string => tableParts(name).map(quoteIdentifier).join('.')

export const tableOf = (side: JsonObject, name: SideName): string => {
  const table = textField(side, 'table')
  if (table === null)
    throw configFailure(`${name}.table is missing: name the table, such as items or sales.items`)
  return table
}

/** The text of the source: `query`, or everything of `table`. */
export const sourceQuery = (side: JsonObject): string => {
  const query = textField(side, 'query', 'command', 'sql')
  if (query !== null) return query.trim().replace(/;\s*$/, '')
  if (textField(side, 'table') === null) {
    throw configFailure('source.query is missing: write a SELECT, or name a table in source.table')
  }
  return `select * from ${quotedTable(tableOf(side, 'source'))}`
}

/** Columns that a target lacks are named, with those it has. */
export const checkColumns = (table: string, wanted: readonly string[], existing: readonly string[]): void => {
  const unknown = wanted.filter((column) => !existing.includes(column))
  if (unknown.length === 0) return
  throw configFailure(
    `${table} has no column ${unknown.join(', ')}. It has: ${existing.join(', ')}. Choose columns with mapping: {column: field}.`,
  )
}

export const checkKey = (key: readonly string[], columns: readonly string[]): void => {
  const missing = key.filter((column) => !columns.includes(column))
  if (missing.length === 0) return
  throw configFailure(
    `key names ${missing.join(', ')}, which is not among the columns: ${columns.join(', ')}`,
  )
}
