/** Processes that announced themselves and say now and then that they live. Instants are the database's. */
import type { RuntimeKind } from '../contract/api-runtimes.ts'
import type { Json } from '../contract/json.ts'
import type { Database } from './database.ts'

/** Who was silent for this long is taken for gone. */
export const STALE_SECONDS = 90

export interface RuntimeRow {
  readonly runtime_id: string
  readonly name: string
  readonly kind: RuntimeKind
  readonly uri: string | null
  readonly status: string
  readonly labels: Json
  readonly capabilities: Json
  readonly capacity: number | null
  readonly runtime: Json
  readonly heartbeat: string
  readonly created_at: string
  readonly updated_at: string
  readonly stale: boolean
}

const COLUMNS =
  'runtime_id, name, kind, uri, status, labels, capabilities, capacity, runtime, heartbeat, created_at, updated_at, ' +
  `heartbeat < now() - interval '${STALE_SECONDS} seconds' as stale`

export interface RuntimeToWrite {
  /** Used when kind and name are new; a runtime that exists keeps its id. */
  readonly runtimeId: string
  readonly name: string
  readonly kind: RuntimeKind
  readonly uri: string | null
  readonly status: string
  /** JSON text, like the next two. */
  readonly labels: string | null
  readonly capabilities: string | null
  readonly runtime: string | null
  readonly capacity: number | null
}

export const registerRuntime = async (database: Database, runtime: RuntimeToWrite): Promise<RuntimeRow> => {
  const { runtimeId, name, kind, uri, status, labels, capabilities, capacity } = runtime
  const { rows } = await database.query<RuntimeRow>(
    `insert into noetl.runtime (runtime_id, name, kind, uri, status, labels, capabilities, capacity, runtime)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict on constraint runtime_by_name do update
     set uri = excluded.uri, status = excluded.status, labels = excluded.labels, capabilities = excluded.capabilities,
       capacity = excluded.capacity, runtime = excluded.runtime, heartbeat = now(), updated_at = now()
     returning ${COLUMNS}`,
    [runtimeId, name, kind, uri, status, labels, capabilities, capacity, runtime.runtime],
  )
  const [row] = rows
  if (!row) throw new Error('an upsert returned no row')
  return row
}

/** The id of the runtime; null when it is not registered. */
export const recordHeartbeat = async (
  database: Database,
  kind: RuntimeKind,
  name: string,
): Promise<string | null> => {
  const { rows } = await database.query<{ runtime_id: string }>({
    name: 'record-heartbeat',
    text: 'update noetl.runtime set heartbeat = now(), updated_at = now() where kind = $1 and name = $2 returning runtime_id',
    values: [kind, name],
  })
  return rows[0]?.runtime_id ?? null
}

export const deregisterRuntime = async (
  database: Database,
  kind: RuntimeKind,
  name: string,
): Promise<boolean> => {
  const { rowCount } = await database.query('delete from noetl.runtime where kind = $1 and name = $2', [
    kind,
    name,
  ])
  return rowCount === 1
}

export const readRuntime = async (
  database: Database,
  kind: RuntimeKind,
  name: string,
): Promise<RuntimeRow | null> => {
  const { rows } = await database.query<RuntimeRow>(
    `select ${COLUMNS} from noetl.runtime where kind = $1 and name = $2`,
    [kind, name],
  )
  return rows[0] ?? null
}

export interface RuntimeFilter {
  readonly kind: RuntimeKind
  readonly status: string | null
  /** Part of the name. */
  readonly name: string | null
}

export const listRuntimes = async (
  database: Database,
  { kind, status, name }: RuntimeFilter,
): Promise<readonly RuntimeRow[]> => {
  const { rows } = await database.query<RuntimeRow>(
    `select ${COLUMNS} from noetl.runtime
     where kind = $1 and ($2::text is null or status = $2) and ($3::text is null or position($3 in name) > 0)
     order by name`,
    [kind, status, name],
  )
  return rows
}

/** Names of workers that were silent for too long, but not since so long ago that nobody asks any more. */
export const silentWorkers = async (database: Database, limit: number): Promise<readonly string[]> => {
  const { rows } = await database.query<{ name: string }>(
    `select name from noetl.runtime
     where kind = 'worker_pool' and heartbeat < now() - interval '${STALE_SECONDS} seconds'
       and heartbeat > now() - interval '1 day'
     order by heartbeat desc limit $1`,
    [limit],
  )
  return rows.map((row) => row.name)
}
