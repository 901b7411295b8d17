/** Writes logs of any kind straight into the tables, in the order given: what an import leaves behind. */
import type { ReplayRow } from '../../src/replay/projection/replay-event.ts'
import type { Database } from '../../src/store/database.ts'

export interface StoredEvent extends ReplayRow {
  readonly createdAt: string
}

let last = 8_000_000_000_000_000_000n

/** Nobody else uses it. */
export const freshExecutionId = (): string => (last += 1n).toString()

/** Appends the events after those that are there. */
export const storeEvents = async (
  database: Database,
  executionId: string,
  events: readonly StoredEvent[],
): Promise<void> => {
  await database.query(
    `insert into noetl.event (execution_id, position, event_id, created_at, event_type, node_name, status, worker_id, meta,
       result_status, result_context, result_reference, extra)
     select $1, (select coalesce(max(position), 0) from noetl.event where execution_id = $1) + e.n, (e.v ->> 'eventId')::bigint,
       (e.v ->> 'createdAt')::timestamptz, e.v ->> 'eventType', e.v ->> 'nodeName', e.v ->> 'status', e.v ->> 'workerId',
       (e.v ->> 'meta')::json, 'x',
       case when e.v ->> 'contextCommandId' is not null then json_build_object('command_id', e.v ->> 'contextCommandId') end,
       (e.v ->> 'reference')::json, (e.v ->> 'extra')::json
     from json_array_elements($2::json) with ordinality as e(v, n)`,
    [executionId, JSON.stringify(events)],
  )
}

export const storeExecution = async (
  database: Database,
  executionId: string,
  status: string,
): Promise<void> => {
  await database.query(
    `insert into noetl.execution (execution_id, catalog_id, path, pool, status, version, imported, started_at, updated_at, finished_at)
     values ($1, 0, 'tests/imported', 'shared', $2, 0, true, now(), now(), case when $2 <> 'RUNNING' then now() end)`,
    [executionId, status],
  )
}
