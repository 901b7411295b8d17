/** Where executions stand: reading their rows. They are written by the append only. */
import { createHash } from 'node:crypto'
import type { ExecutionStatus } from '../contract/event.ts'
import { firstSnowflakeAt } from '../lib/snowflake.ts'
import type { Database } from './database.ts'
import type { ExecutionFilter } from './execution-list.ts'
import { CLOCKS_DIFFER_MS, listStatement } from './execution-list.ts'
import { OPEN_STATES } from './open-work.ts'

export interface ExecutionRow {
  readonly execution_id: string
  readonly catalog_id: string
  readonly path: string
  readonly playbook_version: number | null
  readonly parent_execution_id: string | null
  readonly pool: string
  readonly status: ExecutionStatus
  readonly version: number
  readonly total_steps: number
  readonly completed_steps: number
  readonly running_steps: number
  readonly failed_steps: number
  readonly current_step: string | null
  readonly error: string | null
  readonly imported: boolean
  /** The execution this one is a rerun of, and the last event it took over. */
  readonly origin_execution_id: string | null
  readonly origin_event: string | null
  readonly started_at: string
  readonly updated_at: string
  readonly finished_at: string | null
}

const COLUMNS =
  'execution_id, catalog_id, path, playbook_version, parent_execution_id, pool, status, version, total_steps, ' +
  'completed_steps, running_steps, failed_steps, current_step, error, imported, origin_execution_id, origin_event, ' +
  'started_at, updated_at, finished_at'

export const readExecution = async (
  database: Database,
  executionId: string,
): Promise<ExecutionRow | null> => {
  const { rows } = await database.query<ExecutionRow>({
    name: 'read-execution',
    text: `select ${COLUMNS} from noetl.execution where execution_id = $1`,
    values: [executionId],
  })
  return rows[0] ?? null
}

/** Null when there is no such execution. */
export const readVersion = async (database: Database, executionId: string): Promise<number | null> => {
  const { rows } = await database.query<{ version: number }>({
    name: 'read-version',
    text: 'select version from noetl.execution where execution_id = $1',
    values: [executionId],
  })
  return rows[0]?.version ?? null
}

/** Whether an execution is one that is only shown here; false also when there is none. */
export const isImported = async (database: Database, executionId: string): Promise<boolean> => {
  const { rows } = await database.query<{ imported: boolean }>({
    name: 'is-imported',
    text: 'select imported from noetl.execution where execution_id = $1',
    values: [executionId],
  })
  return rows[0]?.imported ?? false
}

/** Newest first. */
export const listExecutions = async (
  database: Database,
  filter: ExecutionFilter,
): Promise<readonly ExecutionRow[]> => {
  const { text: ids, values } = listStatement(filter)
  const text = `select ${COLUMNS} from noetl.execution where execution_id = any (array(${ids})) order by execution_id desc`
  const { rows } = await database.query<ExecutionRow>({ name: nameOf(text), text, values })
  return rows
}

/** Statements of one text are prepared once: planning takes longer than reading. */
const nameOf = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** The same without the rows themselves. */
export const listExecutionIds = async (
  database: Database,
  filter: ExecutionFilter,
): Promise<readonly string[]> => {
  const { text, values } = listStatement(filter)
  const { rows } = await database.query<{ execution_id: string }>(text, values)
  return rows.map((row) => row.execution_id)
}

export const readExecutions = async (
  database: Database,
  executionIds: readonly string[],
): Promise<readonly ExecutionRow[]> => {
  const { rows } = await database.query<ExecutionRow>({
    name: 'read-executions',
    text: `select ${COLUMNS} from noetl.execution where execution_id = any ($1::bigint[])`,
    values: [executionIds],
  })
  return rows
}

/** Executions of this engine that run since before an instant, oldest first. */
export const listRunningSince = async (
  database: Database,
  before: Date,
  limit: number,
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ execution_id: string }>(
    `select execution_id from noetl.execution
     where status = 'RUNNING' and execution_id < $3 and not imported and started_at < $1 order by execution_id limit $2`,
    [before.toISOString(), limit, firstSnowflakeAt(before.getTime() + CLOCKS_DIFFER_MS)],
  )
  return rows.map((row) => row.execution_id)
}

/** Those of these catalog entries that were ever run here. */
export const listPinned = async (
  database: Database,
  catalogIds: readonly string[],
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ catalog_id: string }>(
    `select c.catalog_id from unnest($1::bigint[]) c(catalog_id)
     where exists (select 1 from noetl.execution e where e.catalog_id = c.catalog_id)`,
    [catalogIds],
  )
  return rows.map((row) => row.catalog_id)
}

/** The executions that these ones started, whether or not they are over. */
export const listChildren = async (
  database: Database,
  parentIds: readonly string[],
): Promise<readonly Pick<ExecutionRow, 'execution_id' | 'status'>[]> => {
  const { rows } = await database.query<Pick<ExecutionRow, 'execution_id' | 'status'>>({
    name: 'list-children',
    text: `select execution_id, status from noetl.execution
      where parent_execution_id = any ($1::bigint[]) order by execution_id`,
    values: [parentIds],
  })
  return rows
}

/**
 * Executions that are not finished although nothing is under way for them: no open command, no timer. There
 * must never be one; whoever finds one has found a defect.
 */
export const executionsWithoutCause = async (
  database: Database,
  limit: number,
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ execution_id: string }>(
    `with moving as (
       ${OPEN_STATES.map((state) => `select execution_id from noetl.command where ${state}`).join(' union all ')}
       union all select execution_id from noetl.timer)
     select e.execution_id from noetl.execution e
     where e.status = 'RUNNING' and not e.imported and e.execution_id not in (select execution_id from moving)
     order by e.execution_id limit $1`,
    [limit],
  )
  return rows.map((row) => row.execution_id)
}
