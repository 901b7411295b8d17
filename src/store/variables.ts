/**
 * Variables that somebody attached to an execution.
 *
 * 1. Several are written by one statement: all or none.
 * 2. What is sensitive is readable only through the sealer; without one the readable column is all there is.
 */
import type { VariableToSet, VariableType } from '../contract/api-variables.ts'
import type { Json } from '../contract/json.ts'
import { redact } from '../contract/sensitive.ts'
import { exactJson, parseJson, storableJson } from '../lib/exact-json.ts'
import type { Sealer } from '../lib/sealer.ts'
import type { Database } from './database.ts'

export interface Variable {
  readonly name: string
  readonly type: VariableType
  readonly value: Json
  readonly sourceStep: string | null
  readonly createdAt: string
  readonly accessedAt: string
  readonly accessCount: number
}

interface VariableRow {
  readonly var_name: string
  readonly var_type: VariableType
  readonly var_value: Json
  readonly sealed: Buffer | null
  readonly source_step: string | null
  readonly created_at: string
  readonly accessed_at: string
  readonly access_count: number
}

const COLUMNS =
  'var_name, var_type, var_value, sealed, source_step, created_at, accessed_at, access_count::double precision as access_count'

/** The names must be different. */
export const writeVariables = async (
  database: Database,
  executionId: string,
  variables: readonly VariableToSet[],
  sealer: Sealer,
): Promise<void> => {
  const shown = variables.map(({ name, value }) => readable(name, value))
  const sealed = variables.map(({ value }, index) =>
    shown[index] === value ? null : sealer.seal(exactJson(value)),
  )
  await database.query(
    `insert into noetl.variable (execution_id, var_name, var_type, var_value, sealed, source_step)
     select $1, v.* from unnest($2::text[], $3::text[], $4::json[], $5::bytea[], $6::text[]) v
     on conflict (execution_id, var_name) do update
     set var_type = excluded.var_type, var_value = excluded.var_value, sealed = excluded.sealed,
       source_step = excluded.source_step, accessed_at = now()`,
    [
      executionId,
      variables.map(({ name }) => name),
      variables.map(({ type }) => type),
      shown.map(storableJson),
      sealed,
      variables.map(({ sourceStep }) => sourceStep),
    ],
  )
}

/** The value as it may lie in a table; the very same value when there is nothing to hide. */
const readable = (name: string, value: Json): Json => {
  const whole = { [name]: value }
  const clean = redact(whole) as Readonly<Record<string, Json>>
  return clean === whole ? value : (clean[name] ?? null)
}

export const listVariables = async (
  database: Database,
  executionId: string,
  sealer: Sealer | null,
): Promise<readonly Variable[]> => {
  const { rows } = await database.query<VariableRow>(
    `select ${COLUMNS} from noetl.variable where execution_id = $1 order by var_name`,
    [executionId],
  )
  return rows.map((row) => toVariable(row, sealer))
}

/** Counts as an access. */
export const accessVariable = async (
  database: Database,
  executionId: string,
  name: string,
  sealer: Sealer | null,
): Promise<Variable | null> => {
  const { rows } = await database.query<VariableRow>(
    `update noetl.variable set accessed_at = now(), access_count = access_count + 1
     where execution_id = $1 and var_name = $2 returning ${COLUMNS}`,
    [executionId, name],
  )
  return rows[0] ? toVariable(rows[0], sealer) : null
}

export const deleteVariable = async (
  database: Database,
  executionId: string,
  name: string,
): Promise<boolean> => {
  const { rowCount } = await database.query(
    'delete from noetl.variable where execution_id = $1 and var_name = $2',
    [executionId, name],
  )
  return rowCount === 1
}

export const deleteVariables = async (database: Database, executionId: string): Promise<number> => {
  const { rowCount } = await database.query('delete from noetl.variable where execution_id = $1', [
    executionId,
  ])
  return rowCount ?? 0
}

const toVariable = (row: VariableRow, sealer: Sealer | null): Variable => ({
  name: row.var_name,
  type: row.var_type,
  value: row.sealed && sealer ? (parseJson(sealer.open(row.sealed)) as Json) : row.var_value,
  sourceStep: row.source_step,
  createdAt: row.created_at,
  accessedAt: row.accessed_at,
  accessCount: row.access_count,
})
