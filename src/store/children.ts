/** What executions started, a page at a time. */
import type { Database } from './database.ts'
import type { ExecutionRow } from './executions.ts'

export type ChildRow = Pick<ExecutionRow, 'execution_id' | 'status'>

/** Children of these executions, over or not, in the order of their ids. */
export const listChildrenAfter = async (
  database: Database,
  parentIds: readonly string[],
  after: string,
  limit: number,
): Promise<readonly ChildRow[]> => {
  const { rows } = await database.query<ChildRow>({
    name: 'list-children-after',
    text: `select execution_id, status from noetl.execution
      where parent_execution_id = any ($1::bigint[]) and execution_id > $2 and not imported order by execution_id limit $3`,
    values: [parentIds, after, limit],
  })
  return rows
}
