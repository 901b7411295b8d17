/**
 * Rows on their way from a source to a target, and the choice of columns in between.
 *
 * 1. A source gives at least one chunk, empty when it has no rows, so that its columns are known.
 * 2. `mapping` is target column to source field. A field is a column, or a path into one (`user.id`, `tags[0]`).
 * 3. A field that a table does not have is a mistake and is named; one that a document does not have is null.
 */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'

export interface RowChunk {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Json[])[]
}

export interface RowSource {
  chunks(): AsyncIterable<RowChunk>
  /** True when rows are documents, of which any may lack any field. */
  readonly isOpen: boolean
  /** True when texts are as a PostgreSQL server wrote them, for another one to read. */
  readonly isServerText: boolean
}

export interface RowTarget {
  write(chunk: RowChunk, isServerText: boolean): Promise<void>
}

export type Mapping = readonly (readonly [column: string, field: string])[]

/** Null when columns keep their names. */
export const mappingOf = (value: Json | undefined): Mapping | null => {
  if (value === undefined || value === null || value === '') return null
  if (!isObject(value)) throw configFailure('mapping must be a mapping of target column to source field')
  const entries = Object.entries(value)
  return entries.length === 0
    ? null
    : entries.map(([column, field]) => {
        if (typeof field !== 'string' || field === '') {
          throw configFailure(`mapping.${column} must name a source field, not ${JSON.stringify(field)}`)
        }
        return [column, field] as const
      })
}

/** `user.tags[0]` as its parts. */
export const pathParts = (path: string): readonly string[] =>
  path
    .replaceAll(/\[(\d+)\]/g, '.$1')
    .split('.')
    .filter((part) => part !== '')

export const valueAtPath = (value: Json | undefined, parts: readonly string[]): Json => {
  let found: Json = value ?? null
  for (const part of parts) {
    if (Array.isArray(found)) found = (found as readonly Json[])[Number(part)] ?? null
    else if (isObject(found) && Object.hasOwn(found, part)) found = found[part] ?? null
    else return null
  }
  return found
}

type Pick = (row: readonly Json[]) => Json

const pickOf = (field: string, columns: readonly string[], isOpen: boolean): Pick => {
  const index = columns.indexOf(field)
  if (index >= 0) return (row) => row[index] ?? null
  const [head = '', ...rest] = pathParts(field)
  const at = columns.indexOf(head)
  if (at >= 0) return (row) => valueAtPath(row[at], rest)
  if (isOpen) return () => null
  throw configFailure(
    `mapping names the field ${field}, which the source does not have. It has: ${columns.join(', ')}.`,
  )
}

/** The chunk with the columns of the target. */
export const project = (chunk: RowChunk, mapping: Mapping | null, isOpen: boolean): RowChunk => {
  if (mapping === null) return chunk
  const picks = mapping.map(([, field]) => pickOf(field, chunk.columns, isOpen))
  return {
    columns: mapping.map(([column]) => column),
    rows: chunk.rows.map((row) => picks.map((pick) => pick(row))),
  }
}

/** Documents as rows: every key that any of them has is a column. */
export const documentsToChunks = (documents: readonly JsonObject[], size: number): readonly RowChunk[] => {
  const columns = [...new Set(documents.flatMap((document) => Object.keys(document)))]
  const chunks: RowChunk[] = []
  for (let from = 0; from < documents.length || from === 0; from += size) {
    const rows = documents
      .slice(from, from + size)
      .map((document) => columns.map((column) => document[column] ?? null))
    chunks.push({ columns, rows })
  }
  return chunks
}

/** Text of a value for a database that casts it to the type of its column; null stays null. */
export const cellText = (value: Json): string | null => {
  if (value === null || typeof value === 'string') return value
  return JSON.stringify(value)
}
