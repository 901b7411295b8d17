/**
 * Events from elsewhere.
 *
 * 1. An execution that is first seen this way gets a row marked as imported; its events are its log, in the order of
 *    arrival. Our engine never reads such a log: every event of it says `imported` in its meta.
 * 2. Events about an execution that runs here are kept beside its log and change nothing.
 * 3. An event is stored once: ids are unique within an execution, also over the log that we wrote ourselves.
 * 4. Everything of one execution is stored together or not at all; imports of one execution wait for each other.
 */
import type { PoolClient } from 'pg'
import type { EventRecord, ExecutionStatus } from '../contract/event.ts'
import type { Sealer } from '../lib/sealer.ts'
import { columnParameters, columnsFrom } from './columns.ts'
import type { Database } from './database.ts'
import type { EventRow } from './event-row.ts'
import { EVENT_CELLS, EVENT_COLUMNS, fromEventRow, toEventCells } from './event-row.ts'

/** An event to import. `position` is 0 when the sender did not tell where it stands in its log. */
export type ImportedEvent = EventRecord & { readonly catalogId: string | null }

export interface ImportedExecution {
  readonly executionId: string
  readonly catalogId: string
  readonly path: string
  readonly parentExecutionId: string | null
  readonly events: readonly ImportedEvent[]
}

/** How many events of a kind there are, and when the newest happened. */
export interface ImportedFact {
  readonly event_type: string
  readonly status: string | null
  readonly node_name: string | null
  readonly count: number
  readonly newest_at: string
  readonly newest_id: string
  readonly error: string | null
}

/** Where an imported execution stands, to be written into its row. */
export interface ImportedStanding {
  readonly status: ExecutionStatus
  readonly finishedAt: string | null
  readonly totalSteps: number
  readonly completedSteps: number
  readonly runningSteps: number
  readonly failedSteps: number
  readonly currentStep: string | null
  readonly error: string | null
}

export interface ImportOptions {
  readonly sealer: Sealer
  /** Judges a log that is not ours. */
  readonly standingOf: (facts: readonly ImportedFact[]) => ImportedStanding
}

/** Answers how many events were new, and the position of the first of them in an imported log. */
export const importEvents = async (
  database: Database,
  execution: ImportedExecution,
  options: ImportOptions,
): Promise<{ readonly inserted: number; readonly position: number }> => {
  const client = await database.connect()
  try {
    await client.query('begin')
    const row = await lockExecution(client, execution)
    const events = onlyOnce(execution.events)
    const result = row.imported
      ? await extendImportedLog(client, execution.executionId, row.version, events, options)
      : await keepBesideLog(client, execution.executionId, row.version, events, options.sealer)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  } finally {
    client.release()
  }
}

const onlyOnce = (events: readonly ImportedEvent[]): readonly ImportedEvent[] =>
  [...new Map(events.toReversed().map((event) => [event.eventId, event])).values()].toReversed()

const lockExecution = async (
  client: PoolClient,
  { executionId, catalogId, path, parentExecutionId, events }: ImportedExecution,
): Promise<{ version: number; imported: boolean }> => {
  const startedAt = events.reduce((first, { createdAt }) => (createdAt < first ? createdAt : first), '9999')
  await client.query(
    `insert into noetl.execution (execution_id, catalog_id, path, parent_execution_id, pool, status, version, imported,
       started_at, updated_at)
     values ($1, $2, $3, $4, 'shared', 'RUNNING', 0, true, $5, now()) on conflict do nothing`,
    [executionId, catalogId, path, parentExecutionId, startedAt],
  )
  const { rows } = await client.query<{ version: number; imported: boolean }>(
    'select version, imported from noetl.execution where execution_id = $1 for no key update',
    [executionId],
  )
  const [row] = rows
  if (!row) throw new Error(`execution ${executionId} vanished`)
  return row
}

const COLUMNS = `execution_id, position, event_id, created_at, event_type, node_name, node_type, status,
  parent_event_id, worker_id, duration_ms, context, result_status, result_context, result_reference, meta, error`
const FROM_PARAMETERS = `from ${columnsFrom('e', EVENT_CELLS, 1)}`

const parametersOf = (events: readonly EventRecord[], sealer: Sealer): (Buffer | null)[] =>
  columnParameters(
    EVENT_CELLS,
    events.map((event) => toEventCells(event, sealer)),
  )

const extendImportedLog = async (
  client: PoolClient,
  executionId: string,
  version: number,
  events: readonly ImportedEvent[],
  { sealer, standingOf }: ImportOptions,
): Promise<{ inserted: number; position: number }> => {
  const { rows: known } = await client.query<{ event_id: string }>(
    'select event_id from noetl.event where execution_id = $1 and event_id = any ($2::bigint[]) and id_from_sender',
    [executionId, events.map((event) => event.eventId)],
  )
  const knownIds = new Set(known.map((row) => row.event_id))
  const fresh = events
    .filter((event) => !knownIds.has(event.eventId))
    .map((event, index) => ({ ...event, position: version + 1 + index }))
  if (fresh.length === 0) return { inserted: 0, position: version }
  await client.query(
    `insert into noetl.event (${COLUMNS}, sealed, id_from_sender)
     select ${COLUMNS}, sealed, true ${FROM_PARAMETERS}`,
    parametersOf(fresh, sealer),
  )
  await writeStanding(client, executionId, version + fresh.length, standingOf)
  return { inserted: fresh.length, position: version + 1 }
}

const writeStanding = async (
  client: PoolClient | Database,
  executionId: string,
  version: number,
  standingOf: ImportOptions['standingOf'],
): Promise<void> => {
  const { rows: facts } = await client.query<ImportedFact>(
    `select event_type, status, node_name, count(*)::int as count, max(created_at) as newest_at,
       max(event_id) as newest_id, (array_agg(error order by position desc) filter (where error is not null))[1] as error
     from noetl.event where execution_id = $1 group by event_type, status, node_name`,
    [executionId],
  )
  const standing = standingOf(facts)
  await client.query(
    `update noetl.execution e
     set version = $2, status = $3, finished_at = $4, total_steps = $5, completed_steps = $6, running_steps = $7,
       failed_steps = $8, current_step = $9, error = $10, updated_at = now(),
       started_at = least(e.started_at, (select min(created_at) from noetl.event where execution_id = $1))
     where execution_id = $1`,
    [
      executionId,
      version,
      standing.status,
      standing.finishedAt,
      standing.totalSteps,
      standing.completedSteps,
      standing.runningSteps,
      standing.failedSteps,
      standing.currentStep,
      standing.error,
    ],
  )
}

const keepBesideLog = async (
  client: PoolClient,
  executionId: string,
  version: number,
  events: readonly ImportedEvent[],
  sealer: Sealer,
): Promise<{ inserted: number; position: number }> => {
  const ours = await findInOwnLog(client, executionId, events)
  const foreign = events
    .filter((event) => !ours.has(event.eventId))
    .map((event) => ({ ...event, position: version }))
  const { rowCount } = await client.query(
    `insert into noetl.imported_event (${COLUMNS}, sealed)
     select ${COLUMNS}, sealed ${FROM_PARAMETERS} on conflict do nothing`,
    parametersOf(foreign, sealer),
  )
  return { inserted: rowCount ?? 0, position: version }
}

/** Our own events come back with their position, which is quickly looked at; for others the log is searched. */
const findInOwnLog = async (
  client: PoolClient,
  executionId: string,
  events: readonly ImportedEvent[],
): Promise<ReadonlySet<string>> => {
  const found = new Set<string>()
  const look = async (condition: string, values: readonly unknown[]): Promise<void> => {
    if (values.length === 0) return
    const { rows } = await client.query<{ event_id: string }>(
      `select event_id from noetl.event where execution_id = $1 and ${condition}`,
      [executionId, values],
    )
    for (const row of rows) found.add(row.event_id)
  }
  await look(
    'position = any ($2::int[])',
    events.filter((event) => event.position > 0).map((event) => event.position),
  )
  const rest = events.filter((event) => !found.has(event.eventId)).map((event) => event.eventId)
  await look('event_id = any ($2::bigint[])', rest)
  return found
}

/** Looks at an imported log anew; the version of the execution, or null when it is none that was imported. */
export const refreshImported = async (
  database: Database,
  executionId: string,
  standingOf: ImportOptions['standingOf'],
): Promise<number | null> => {
  const { rows } = await database.query<{ version: number }>(
    'select version from noetl.execution where execution_id = $1 and imported',
    [executionId],
  )
  const [row] = rows
  if (!row) return null
  await writeStanding(database, executionId, row.version, standingOf)
  return row.version
}

/** What others brought about an execution that runs here, oldest first. */
export const readImportedEvents = async (
  database: Database,
  executionId: string,
  limit: number,
): Promise<readonly EventRecord[]> => {
  const { rows } = await database.query<EventRow>({
    name: 'read-imported-events',
    text: `select ${EVENT_COLUMNS} from noetl.imported_event where execution_id = $1 order by position, event_id limit $2`,
    values: [executionId, limit],
  })
  return rows.map((row) => fromEventRow(row, null))
}
