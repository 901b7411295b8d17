/** Rows of executions that travel between servers. Everything of one import is written together or not at all. */
import type { PoolClient } from 'pg'
import type { EventRecord } from '../contract/event.ts'
import type { DefinitionLine, ExecutionLine, ResultLine } from '../contract/transfer.ts'
import type { Sealer } from '../lib/sealer.ts'
import { columnParameters, columnsFrom } from './columns.ts'
import type { Database } from './database.ts'
import { EVENT_CELLS, EVENT_COLUMNS, toEventCells } from './event-row.ts'
import type { EventRow } from './event-row.ts'
import type { StoredResult } from './results.ts'

const RESULT_COLUMNS =
  'result_id, execution_id, name, scope, source_step, media_type, bytes::double precision as bytes, sha256, logical_uri, created_at, expires_at, data'

/** Results of an execution in the order of their ids, one page at a time: each may be large. */
export const readResultsAfter = async (
  database: Database,
  executionId: string,
  after: string,
  limit: number,
): Promise<readonly StoredResult[]> => {
  const { rows } = await database.query<StoredResult>(
    `select ${RESULT_COLUMNS} from noetl.result
     where execution_id = $1 and result_id > $2 and (expires_at is null or expires_at > now()) order by result_id limit $3`,
    [executionId, after, limit],
  )
  return rows
}

/** Rows of events, sealed parts included. */
export const readEventRows = async (
  database: Database,
  executionId: string,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<readonly EventRow[]> => {
  const { rows } = await database.query<EventRow>({
    name: 'read-event-rows',
    text: `select ${EVENT_COLUMNS} from noetl.event
      where execution_id = $1 and position > $2 and position <= $3 order by position limit $4`,
    values: [executionId, after, upTo, limit],
  })
  return rows
}

/** Columns of an execution that follow from its log. */
export interface FoldedFacts {
  readonly total_steps: number
  readonly completed_steps: number
  readonly running_steps: number
  readonly failed_steps: number
  readonly current_step: string | null
}

export interface ImportTransaction {
  definition(line: DefinitionLine): Promise<void>
  /** False when the execution is here already. */
  execution(line: ExecutionLine): Promise<boolean>
  events(events: readonly EventRecord[]): Promise<void>
  /** Whether exactly these events are in the log that is here. */
  hasEvents(events: readonly EventRecord[]): Promise<boolean>
  /** What follows from the log, once all of it is known. */
  facts(executionId: string, facts: FoldedFacts): Promise<void>
  result(line: ResultLine, sealed: Buffer): Promise<void>
  commit(): Promise<void>
  /** Undoes everything that is not committed; may be called at any time, also twice. */
  rollback(): Promise<void>
}

export interface ImportShards {
  readonly cluster: Database
  of(executionId: string): Database
}

/** A transaction on every database that an import turns out to need. */
export const beginImport = ({ cluster, of }: ImportShards, sealer: Sealer): ImportTransaction => {
  const clients = new Map<Database, Promise<PoolClient>>()
  const clientOf = (database: Database): Promise<PoolClient> => {
    let client = clients.get(database)
    if (!client) {
      client = database.connect().then(async (connected) => {
        await connected.query('begin')
        return connected
      })
      clients.set(database, client)
    }
    return client
  }
  const finish = async (verb: 'commit' | 'rollback'): Promise<void> => {
    const all = [...clients.values()]
    clients.clear()
    for (const pending of all) {
      const client = await pending
      try {
        await client.query(verb)
      } finally {
        client.release()
      }
    }
  }
  return {
    definition: async (line) => insertDefinition(await clientOf(cluster), line),
    execution: async (line) => insertExecution(await clientOf(of(line.execution_id)), line),
    events: async (events) => {
      const [first] = events
      if (first) await insertEvents(await clientOf(of(first.executionId)), events, sealer)
    },
    hasEvents: async (events) => {
      const [first] = events
      return !first || hasEvents(await clientOf(of(first.executionId)), first.executionId, events)
    },
    facts: async (executionId, facts) => writeFacts(await clientOf(of(executionId)), executionId, facts),
    result: async (line, sealed) => insertResult(await clientOf(of(line.execution_id)), line, sealed),
    commit: () => finish('commit'),
    rollback: () => finish('rollback'),
  }
}

/** Archived from the beginning: it can be shown and run by its id, and is nobody's newest version. */
const insertDefinition = async (client: PoolClient, line: DefinitionLine): Promise<void> => {
  const values = [line.catalog_id, line.path, line.kind, line.content]
  const { rowCount } = await client.query(
    `insert into noetl.catalog (catalog_id, path, version, kind, content, archived_at) values ($1, $2, $5, $3, $4, now())
     on conflict do nothing`,
    [...values, line.version],
  )
  if (rowCount === 1) return
  // The id is known, or another text has this version: then it gets the next number.
  await client.query(
    `insert into noetl.catalog (catalog_id, path, version, kind, content, archived_at)
     select $1, $2, max(version) + 1, $3, $4, now() from noetl.catalog where path = $2
     having max(version) is not null
     on conflict (catalog_id) do nothing`,
    values,
  )
}

const insertExecution = async (client: PoolClient, line: ExecutionLine): Promise<boolean> => {
  const { rowCount } = await client.query(
    `insert into noetl.execution (execution_id, catalog_id, path, playbook_version, parent_execution_id, origin_execution_id,
       origin_event, pool, status, version, imported, started_at, updated_at, finished_at, error)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, true, $11, $12, $13, $14) on conflict do nothing`,
    [
      line.execution_id,
      line.catalog_id,
      line.path,
      line.playbook_version,
      line.parent_execution_id,
      line.origin_execution_id,
      line.origin_event,
      line.pool,
      line.status,
      line.events,
      line.started_at,
      line.updated_at,
      line.finished_at,
      line.error,
    ],
  )
  return rowCount === 1
}

const CELLS = EVENT_CELLS.map(({ name }) => name)

const insertEvents = async (
  client: PoolClient,
  events: readonly EventRecord[],
  sealer: Sealer,
): Promise<void> => {
  await client.query(
    `insert into noetl.event (${CELLS.join(', ')})
     select ${CELLS.join(', ')} from ${columnsFrom('e', EVENT_CELLS, 1)}`,
    columnParameters(
      EVENT_CELLS,
      events.map((event) => toEventCells(event, sealer)),
    ),
  )
}

const hasEvents = async (
  client: PoolClient,
  executionId: string,
  events: readonly EventRecord[],
): Promise<boolean> => {
  const { rows } = await client.query<{ known: number }>(
    `select count(*)::int as known from unnest($2::int[], $3::bigint[]) w(position, event_id)
     join noetl.event e on e.execution_id = $1 and e.position = w.position and e.event_id = w.event_id`,
    [executionId, events.map(({ position }) => position), events.map(({ eventId }) => eventId)],
  )
  return rows[0]?.known === events.length
}

const writeFacts = async (client: PoolClient, executionId: string, facts: FoldedFacts): Promise<void> => {
  await client.query(
    `update noetl.execution set total_steps = $2, completed_steps = $3, running_steps = $4, failed_steps = $5,
       current_step = $6 where execution_id = $1`,
    [
      executionId,
      facts.total_steps,
      facts.completed_steps,
      facts.running_steps,
      facts.failed_steps,
      facts.current_step,
    ],
  )
}

const insertResult = async (client: PoolClient, line: ResultLine, sealed: Buffer): Promise<void> => {
  await client.query(
    `insert into noetl.result (result_id, execution_id, name, scope, source_step, media_type, logical_uri, bytes, sha256, data,
       created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict do nothing`,
    [
      line.result_id,
      line.execution_id,
      line.name,
      line.scope,
      line.source_step,
      line.media_type,
      line.logical_uri,
      line.bytes,
      line.sha256,
      sealed,
      line.created_at,
    ],
  )
}
