/**
 * The statement that changes executions: one for any number of them, atomic for each.
 *
 * An append names the version it was decided on. The row of the execution is inserted (version 0 expected) or
 * updated (that very version expected); events, commands, command changes and timers are written only for executions
 * whose row was won. A loser writes nothing at all and is told so.
 */
import { redact } from '../contract/sensitive.ts'
import { storableJson } from '../lib/exact-json.ts'
import type { Sealer } from '../lib/sealer.ts'
import type { Append, CommandUpdate, ExecutionUpdate, NewCommand, TimerToSet } from './append.ts'
import type { Column } from './columns.ts'
import { columnParameters, columnsFrom, plainText } from './columns.ts'
import { EVENT_CELLS, toEventCells } from './event-row.ts'

const text = (value: string | null): string | null => (value === null ? null : plainText(value))

/** A list of words as PostgreSQL reads one; null for none. */
const arrayText = (words: readonly string[] | undefined): string | null =>
  words === undefined || words.length === 0
    ? null
    : `{${words.map((word) => `"${plainText(word).replaceAll(/[\\"]/g, String.raw`\$&`)}"`).join()}}`

/** What is written once, with the first events. */
const isNew = (row: ExecutionUpdate): boolean => row.expectedVersion === 0

const EXECUTIONS: readonly Column<ExecutionUpdate>[] = [
  { name: 'execution_id', type: 'bigint', of: (row) => row.executionId },
  { name: 'expected', type: 'int', of: (row) => row.expectedVersion },
  { name: 'version', type: 'int', of: (row) => row.version },
  { name: 'status', type: 'text', of: (row) => row.status },
  { name: 'at', type: 'timestamptz', of: (row) => row.at },
  { name: 'catalog_id', type: 'bigint', of: (row) => (isNew(row) ? row.catalogId : null) },
  { name: 'path', type: 'text', of: (row) => (isNew(row) ? plainText(row.path) : null) },
  { name: 'playbook_version', type: 'int', of: (row) => (isNew(row) ? row.playbookVersion : null) },
  { name: 'parent_execution_id', type: 'bigint', of: (row) => (isNew(row) ? row.parentExecutionId : null) },
  { name: 'pool', type: 'text', of: (row) => (isNew(row) ? plainText(row.pool) : null) },
  { name: 'origin_execution_id', type: 'bigint', of: (row) => (isNew(row) ? row.originExecutionId : null) },
  { name: 'origin_event', type: 'bigint', of: (row) => (isNew(row) ? row.originEventId : null) },
  { name: 'total_steps', type: 'int', of: (row) => row.totalSteps },
  { name: 'completed_steps', type: 'int', of: (row) => row.completedSteps },
  { name: 'running_steps', type: 'int', of: (row) => row.runningSteps },
  { name: 'failed_steps', type: 'int', of: (row) => row.failedSteps },
  { name: 'current_step', type: 'text', of: (row) => text(row.currentStep) },
  { name: 'error', type: 'text', of: (row) => text(redact(row.error) as string | null) },
]

const COMMANDS: readonly Column<NewCommand>[] = [
  { name: 'event_id', type: 'bigint', of: (row) => row.eventId },
  { name: 'execution_id', type: 'bigint', of: (row) => row.executionId },
  { name: 'position', type: 'int', of: (row) => row.position },
  { name: 'command_id', type: 'text', of: (row) => plainText(row.commandId) },
  { name: 'step', type: 'text', of: (row) => plainText(row.step) },
  { name: 'tool_kind', type: 'text', of: (row) => plainText(row.toolKind) },
  { name: 'pool', type: 'text', of: (row) => plainText(row.pool) },
  { name: 'status', type: 'text', of: (row) => row.status },
  { name: 'attempt', type: 'int', of: (row) => row.attempt },
  { name: 'lease_token', type: 'bigint', of: (row) => row.leaseToken },
  { name: 'worker_id', type: 'text', of: (row) => text(row.workerId) },
  { name: 'lease_seconds', type: 'float8', of: (row) => row.leaseSeconds },
  { name: 'requires', type: 'text', of: (row) => arrayText(row.requires) },
]

const CHANGES: readonly Column<CommandUpdate>[] = [
  { name: 'event_id', type: 'bigint', of: (row) => row.eventId },
  { name: 'execution_id', type: 'bigint', of: (row) => row.executionId },
  { name: 'status', type: 'text', of: (row) => row.status },
  { name: 'worker_id', type: 'text', of: (row) => text(row.workerId) },
  { name: 'lease_seconds', type: 'float8', of: (row) => row.leaseSeconds },
]

const TIMERS: readonly Column<TimerToSet>[] = [
  { name: 'timer_id', type: 'bigint', of: (row) => row.timerId },
  { name: 'execution_id', type: 'bigint', of: (row) => row.executionId },
  { name: 'delay_ms', type: 'float8', of: (row) => row.delayMs },
  { name: 'kind', type: 'text', of: (row) => row.kind },
  { name: 'payload', type: 'json', of: (row) => storableJson(row.payload) },
]

const FIRST = {
  executions: 1,
  events: 1 + EXECUTIONS.length,
  commands: 1 + EXECUTIONS.length + EVENT_CELLS.length,
  changes: 1 + EXECUTIONS.length + EVENT_CELLS.length + COMMANDS.length,
  timers: 1 + EXECUTIONS.length + EVENT_CELLS.length + COMMANDS.length + CHANGES.length,
}

/** How many parameters the statement takes. */
export const APPEND_PARAMETERS = FIRST.timers + TIMERS.length - 1

export const appendParameters = (appends: readonly Append[], sealer: Sealer): (Buffer | null)[] => [
  ...columnParameters(
    EXECUTIONS,
    appends.map(({ execution }) => execution),
  ),
  ...columnParameters(
    EVENT_CELLS,
    appends.flatMap(({ events }) => events.map((event) => toEventCells(event, sealer))),
  ),
  ...columnParameters(
    COMMANDS,
    appends.flatMap(({ commands }) => commands),
  ),
  ...columnParameters(
    CHANGES,
    appends.flatMap(({ changes }) => changes),
  ),
  ...columnParameters(
    TIMERS,
    appends.flatMap(({ timers }) => timers),
  ),
]

/**
 * The rows of executions to update are looked up one by one along the primary key (`offset 0` keeps the planner from
 * joining them otherwise): the plan is made once, when the table is small, and would read all of it for ever.
 */
export const APPEND_STATEMENT = `
with x as (
  select * from ${columnsFrom('x', EXECUTIONS, FIRST.executions)}
), inserted as (
  insert into noetl.execution (execution_id, version, status, started_at, updated_at, finished_at, catalog_id, path,
    playbook_version, parent_execution_id, pool, total_steps, completed_steps, running_steps, failed_steps, current_step, error,
    origin_execution_id, origin_event)
  select execution_id, version, status, at, at, case when status <> 'RUNNING' then at end, catalog_id, path,
    playbook_version, parent_execution_id, pool, total_steps, completed_steps, running_steps, failed_steps, current_step, error,
    origin_execution_id, origin_event
  from x where expected = 0
  on conflict do nothing
  returning execution_id
), updated as (
  update noetl.execution e
  set version = x.version, status = x.status, updated_at = x.at,
    finished_at = case when x.status <> 'RUNNING' then coalesce(e.finished_at, x.at) end,
    total_steps = x.total_steps, completed_steps = x.completed_steps, running_steps = x.running_steps,
    failed_steps = x.failed_steps, current_step = x.current_step, error = x.error
  from x cross join lateral (select k.ctid from noetl.execution k where k.execution_id = x.execution_id offset 0) k
  where x.expected > 0 and e.ctid = k.ctid and e.version = x.expected
  returning e.execution_id
), won as (
  select execution_id from inserted union all select execution_id from updated
), events as (
  insert into noetl.event (execution_id, position, event_id, created_at, event_type, node_name, node_type, status,
    parent_event_id, worker_id, duration_ms, context, result_status, result_context, result_reference, meta, error, sealed,
    id_from_sender)
  select execution_id, position, event_id, created_at, event_type, node_name, node_type, status,
    parent_event_id, worker_id, duration_ms, context, result_status, result_context, result_reference, meta, error,
    sealed, id_from_sender
  from ${columnsFrom('e', EVENT_CELLS, FIRST.events)}
  join won using (execution_id)
), commands as (
  insert into noetl.command (event_id, execution_id, position, command_id, step, tool_kind, pool, status, attempt,
    lease_token, worker_id, requires, lease_until, claimed_at, finished_at)
  select event_id, execution_id, position, command_id, step, tool_kind, pool, status, attempt, lease_token, worker_id,
    requires::text[],
    case when status = 'CLAIMED' then now() + lease_seconds * interval '1 second' end,
    case when status = 'CLAIMED' then now() end,
    case when status not in ('PENDING', 'CLAIMED', 'PARKED') then now() end
  from ${columnsFrom('c', COMMANDS, FIRST.commands)}
  join won using (execution_id)
), changes as (
  update noetl.command k
  set status = d.status,
    worker_id = case d.status when 'PENDING' then null when 'CLAIMED' then d.worker_id else k.worker_id end,
    lease_until = case when d.status = 'CLAIMED' then now() + d.lease_seconds * interval '1 second' end,
    claimed_at = case when d.status = 'CLAIMED' then now() else k.claimed_at end,
    finished_at = case when d.status not in ('PENDING', 'CLAIMED', 'PARKED') then now() end
  from ${columnsFrom('d', CHANGES, FIRST.changes)}
  join won on won.execution_id = d.execution_id
  where k.event_id = d.event_id
), timers as (
  insert into noetl.timer (timer_id, execution_id, due_at, kind, payload)
  select timer_id, execution_id, now() + delay_ms * interval '1 millisecond', kind, payload
  from ${columnsFrom('t', TIMERS, FIRST.timers)}
  join won using (execution_id)
)
select execution_id from won`
