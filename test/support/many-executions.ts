/**
 * A store with a long past, made by PostgreSQL itself: executions one second apart, the newest of them now, with events
 * such as a chain of two steps leaves behind.
 *
 * 1. What is rare is old: the executions that failed, were cancelled, or ran playbooks of the folder `old` are the oldest
 *    ones, where a walk from the newest end comes last.
 */
import { firstSnowflakeAt } from '../../src/lib/snowflake.ts'
import type { Database } from '../../src/store/database.ts'

export const EVENTS_EACH = 10

export interface Past {
  readonly executions: number
  /** How many playbooks there are, each with three versions. */
  readonly playbooks: number
  /** Unix milliseconds of the newest start. */
  readonly now: number
}

/** The id of the n-th execution, counted from 1. */
export const pastId = ({ executions, now }: Past, nth: number): string =>
  (BigInt(firstSnowflakeAt(now - (executions - nth) * 1000)) + BigInt(nth % 4096)).toString()

export const pastCatalogId = (playbook: number, version: number): string =>
  String(1_000_000 + playbook * 10 + version)

export const pastPath = (playbook: number): string => `team-${playbook % 7}/Job_${playbook}`

/** With or without the events of the executions. */
export const writePast = async (
  database: Database,
  past: Past,
  { events = true }: { readonly events?: boolean } = {},
): Promise<void> => {
  await writeCatalog(database, past)
  await writeExecutions(database, past)
  if (events) await writeEvents(database)
  await database.query('vacuum analyze noetl.catalog')
  await database.query('vacuum analyze noetl.execution')
  await database.query('vacuum analyze noetl.event')
}

const writeCatalog = (database: Database, { playbooks }: Past): Promise<unknown> =>
  database.query(
    `insert into noetl.catalog (catalog_id, path, version, kind, content)
     select 1000000 + p * 10 + v, 'team-' || p % 7 || '/Job_' || p, v, 'playbook', repeat('# text of a playbook' || chr(10), 100)
     from generate_series(0, $1::int - 1) p, generate_series(1, 3) v`,
    [playbooks],
  )

const writeExecutions = (database: Database, { executions, playbooks, now }: Past): Promise<unknown> =>
  database.query(
    `with made as (
       select n, (($3::bigint - ($1::bigint - n) * 1000) << 22) + n % 4096 as id,
         (n * 7919) % $2::bigint as playbook, 1 + n / $2::bigint % 3 as version,
         to_timestamp($4::double precision / 1000 - ($1 - n)) as at,
         case when n > $1 - 50 then 'RUNNING' when n <= $1 / 100 then 'FAILED' when n <= $1 / 80 then 'CANCELLED' else 'COMPLETED' end as status
       from generate_series(1, $1::bigint) n)
     insert into noetl.execution (execution_id, catalog_id, path, playbook_version, parent_execution_id, pool, status, version,
       total_steps, completed_steps, running_steps, failed_steps, current_step, error, started_at, updated_at, finished_at)
     select id,
       case when n <= $1 / 50 then 1000000 + version else 1000000 + playbook * 10 + version end,
       case when n <= $1 / 50 then 'old/Forgotten' else 'team-' || playbook % 7 || '/Job_' || playbook end,
       version, case when n % 10 = 0 then (($3::bigint - ($1::bigint - (n - n % 1000 + 1)) * 1000) << 22) + (n - n % 1000 + 1) % 4096 end,
       'shared', status, ${EVENTS_EACH}, 2, case when status = 'COMPLETED' then 2 else 1 end, 0, 0, 's2',
       case when status = 'FAILED' then 'Step ''s2'' failed: it broke' end,
       at, at, case when status <> 'RUNNING' then at + interval '700 milliseconds' end
     from made`,
    [executions, playbooks, BigInt(firstSnowflakeAt(now)) >> 22n, now],
  )

const writeEvents = (database: Database): Promise<unknown> =>
  database.query(
    `insert into noetl.event (execution_id, position, event_id, created_at, event_type, node_name, status, context, result_status, result_context, meta)
     select e.execution_id, p, e.execution_id + p, e.started_at + p * interval '60 milliseconds',
       (array['playbook_started','step.enter','command.issued','command.claimed','command.completed','step.exit',
         'step.enter','command.issued','command.completed','playbook.completed'])[p],
       case when p in (1, 10) then 'playbook' when p < 7 then 'start' else 's2' end,
       case when p in (5, 6, 9, 10) then 'COMPLETED' else 'RUNNING' end,
       case when p = 1 then json_build_object('workload', json_build_object('customer', e.execution_id::text, 'region', 'north'), 'path', e.path)
         when p in (3, 8) then json_build_object('tool_config', json_build_object('kind', 'http', 'url', 'https://example.org/items', 'headers', json_build_object('accept', 'application/json')), 'args', '{}'::json) end,
       case when p in (5, 9, 10) then 'COMPLETED' end,
       case when p in (5, 9, 10) then json_build_object('data', json_build_object('rows', p, 'note', repeat('x', 120))) end,
       json_build_object('emitted_by', 'orchestrator', 'attempt', 1)
     from noetl.execution e cross join generate_series(1, ${EVENTS_EACH}) p`,
  )
