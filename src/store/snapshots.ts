/** Folded states of long executions. They save time when a state is loaded; losing them loses nothing. */
import type { Database } from './database.ts'

export interface Snapshot {
  readonly position: number
  readonly state: Buffer
}

export const readSnapshot = async (database: Database, executionId: string): Promise<Snapshot | null> => {
  const { rows } = await database.query<Snapshot>({
    name: 'read-snapshot',
    text: 'select position, state from noetl.snapshot where execution_id = $1 order by position desc limit 1',
    values: [executionId],
  })
  return rows[0] ?? null
}

export const writeSnapshot = async (
  database: Database,
  executionId: string,
  { position, state }: Snapshot,
): Promise<void> => {
  await database.query({
    name: 'write-snapshot',
    text: 'insert into noetl.snapshot (execution_id, position, state) values ($1, $2, $3) on conflict do nothing',
    values: [executionId, position, state],
  })
}
