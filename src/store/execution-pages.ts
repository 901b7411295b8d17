/** Going through all executions. */
import type { Database } from './database.ts'

/** Ids after an id, in their order. */
export const listExecutionsAfter = async (
  database: Database,
  after: string,
  limit: number,
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ execution_id: string }>({
    name: 'list-executions-after',
    text: 'select execution_id from noetl.execution where execution_id > $1 order by execution_id limit $2',
    values: [after, limit],
  })
  return rows.map((row) => row.execution_id)
}
