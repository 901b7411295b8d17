/**
 * Folded states along the logs of long executions. They save time when a state is loaded, the newest one or one of the
 * past; losing them loses nothing.
 */
import type { Database } from './database.ts'

export interface Snapshot {
  readonly position: number
  readonly state: Buffer
}

/** The newest snapshot that is not beyond a position. */
export const readSnapshot = async (
  database: Database,
  executionId: string,
  upTo: number = NO_LIMIT,
): Promise<Snapshot | null> => {
  const { rows } = await database.query<Snapshot>({
    name: 'read-snapshot',
    text: `select position, state from noetl.snapshot where execution_id = $1 and position <= $2
      order by position desc limit 1`,
    values: [executionId, upTo],
  })
  return rows[0] ?? null
}

/** As far as positions count. */
const NO_LIMIT = 2 ** 31 - 1

/** Where there are snapshots, in order. */
export const listSnapshots = async (
  database: Database,
  executionId: string,
): Promise<readonly { readonly position: number; readonly bytes: number }[]> => {
  const { rows } = await database.query<{ position: number; bytes: number }>({
    name: 'list-snapshots',
    text: 'select position, length(state) as bytes from noetl.snapshot where execution_id = $1 order by position',
    values: [executionId],
  })
  return rows
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
