/** Where executions stand: reading their rows. They are written by the append only. */
import type { ExecutionStatus } from '../contract/event.ts'
import type { Database } from './database.ts'

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
  readonly started_at: string
  readonly updated_at: string
  readonly finished_at: string | null
}

const COLUMNS =
  'execution_id, catalog_id, path, playbook_version, parent_execution_id, pool, status, version, total_steps, ' +
  'completed_steps, running_steps, failed_steps, current_step, error, imported, started_at, updated_at, finished_at'

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

export interface ExecutionFilter {
  readonly status: ExecutionStatus | null
  readonly catalogId: string | null
  /** Case-insensitive part of the path. */
  readonly path: string | null
  readonly parentExecutionId: string | null
  readonly limit: number
  readonly offset: number
}

/** Newest first. Ids carry their time, so the order of ids is the order of starts. */
export const listExecutions = async (
  database: Database,
  filter: ExecutionFilter,
): Promise<readonly ExecutionRow[]> => {
  const values: unknown[] = [filter.limit, filter.offset]
  const conditions: string[] = []
  const where = (condition: string, value: unknown): void => {
    values.push(value)
    conditions.push(condition.replace('?', `$${values.length}`))
  }
  if (filter.status !== null) where('status = ?', filter.status)
  if (filter.catalogId !== null) where('catalog_id = ?', filter.catalogId)
  if (filter.parentExecutionId !== null) where('parent_execution_id = ?', filter.parentExecutionId)
  if (filter.path !== null) where('position(lower(?) in lower(path)) > 0', filter.path)
  const { rows } = await database.query<ExecutionRow>(
    `select ${COLUMNS} from noetl.execution ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''}
     order by execution_id desc limit $1 offset $2`,
    values,
  )
  return rows
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
       select execution_id from noetl.command where status = 'PENDING'
       union all select execution_id from noetl.command where status = 'CLAIMED'
       union all select execution_id from noetl.command where status = 'PARKED'
       union all select execution_id from noetl.timer)
     select e.execution_id from noetl.execution e
     where e.status = 'RUNNING' and not e.imported and e.execution_id not in (select execution_id from moving)
     order by e.execution_id limit $1`,
    [limit],
  )
  return rows.map((row) => row.execution_id)
}
