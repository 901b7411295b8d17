/** What an append writes, table by table: the rows, and the expression that writes those of executions that were won. */
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

/** One table's share of an append. */
export interface AppendPart {
  /** Of its expression. */
  readonly name: string
  /** Stands for it in the name of the statement. */
  readonly letter: string
  /** It answers the `execution_id` of those whose row was won; the others use `won`. */
  readonly wins?: true
  /** Common table expressions whose parameters begin with the given number. */
  sql(firstParameter: number): string
  /** Null when there is nothing for it to do. */
  parameters(appends: readonly Append[], sealer: Sealer): readonly Parameter[] | null
}

export type Parameter = Buffer | string | null

const part = <Row>(
  name: string,
  letter: string,
  columns: readonly Column<Row>[],
  rowsOf: (appends: readonly Append[], sealer: Sealer) => readonly Row[],
  sql: (rows: string) => string,
): AppendPart => ({
  name,
  letter,
  sql: (first) => `${name} as (${sql(columnsFrom('r', columns, first))})`,
  parameters: (appends, sealer) => {
    const rows = rowsOf(appends, sealer)
    return rows.length === 0 ? null : columnParameters(columns, rows)
  },
})

const isNew = ({ execution }: Append): boolean => execution.expectedVersion === 0

/** What changes with every append. */
const STANDING: readonly Column<ExecutionUpdate>[] = [
  { name: 'execution_id', type: 'bigint', of: (row) => row.executionId },
  { name: 'version', type: 'int', of: (row) => row.version },
  { name: 'status', type: 'text', of: (row) => row.status },
  { name: 'at', type: 'timestamptz', of: (row) => row.at },
  { name: 'total_steps', type: 'int', of: (row) => row.totalSteps },
  { name: 'completed_steps', type: 'int', of: (row) => row.completedSteps },
  { name: 'running_steps', type: 'int', of: (row) => row.runningSteps },
  { name: 'failed_steps', type: 'int', of: (row) => row.failedSteps },
  { name: 'current_step', type: 'text', of: (row) => text(row.currentStep) },
  { name: 'error', type: 'text', of: (row) => text(redact(row.error) as string | null) },
]

/** What is written once, with the first events. */
const ORIGIN: readonly Column<ExecutionUpdate>[] = [
  { name: 'catalog_id', type: 'bigint', of: (row) => row.catalogId },
  { name: 'path', type: 'text', of: (row) => plainText(row.path) },
  { name: 'playbook_version', type: 'int', of: (row) => row.playbookVersion },
  { name: 'parent_execution_id', type: 'bigint', of: (row) => row.parentExecutionId },
  { name: 'pool', type: 'text', of: (row) => plainText(row.pool) },
  { name: 'origin_execution_id', type: 'bigint', of: (row) => row.originExecutionId },
  { name: 'origin_event', type: 'bigint', of: (row) => row.originEventId },
]

const INSERTED: AppendPart = {
  wins: true,
  ...part(
    'inserted',
    'n',
    [...STANDING, ...ORIGIN],
    (appends) => appends.filter(isNew).map(({ execution }) => execution),
    (rows) => `
  insert into noetl.execution (execution_id, version, status, started_at, updated_at, finished_at, catalog_id, path,
    playbook_version, parent_execution_id, pool, total_steps, completed_steps, running_steps, failed_steps, current_step, error,
    origin_execution_id, origin_event)
  select execution_id, version, status, at, at, case when status <> 'RUNNING' then at end, catalog_id, path,
    playbook_version, parent_execution_id, pool, total_steps, completed_steps, running_steps, failed_steps, current_step, error,
    origin_execution_id, origin_event
  from ${rows}
  on conflict do nothing
  returning execution_id`,
  ),
}

/**
 * The rows to update are looked up one by one along the primary key (`offset 0` keeps the planner from joining them
 * otherwise): the plan is made once, when the table is small, and would read all of it for ever.
 */
const UPDATED: AppendPart = {
  wins: true,
  ...part(
    'updated',
    'u',
    [...STANDING, { name: 'expected', type: 'int', of: (row) => row.expectedVersion }],
    (appends) => appends.filter((append) => !isNew(append)).map(({ execution }) => execution),
    (rows) => `
  update noetl.execution e
  set version = r.version, status = r.status, updated_at = r.at,
    finished_at = case when r.status <> 'RUNNING' then coalesce(e.finished_at, r.at) end,
    total_steps = r.total_steps, completed_steps = r.completed_steps, running_steps = r.running_steps,
    failed_steps = r.failed_steps, current_step = r.current_step, error = r.error
  from ${rows} cross join lateral (select k.ctid from noetl.execution k where k.execution_id = r.execution_id offset 0) k
  where e.ctid = k.ctid and e.version = r.expected
  returning e.execution_id`,
  ),
}

const EVENT_NAMES = EVENT_CELLS.map(({ name }) => name).join(', ')

const EVENTS = part(
  'events',
  'e',
  EVENT_CELLS,
  (appends, sealer) => appends.flatMap(({ events }) => events.map((event) => toEventCells(event, sealer))),
  (rows) => `
  insert into noetl.event (${EVENT_NAMES})
  select ${EVENT_NAMES} from ${rows} join won using (execution_id)`,
)

const COMMANDS = part<NewCommand>(
  'commands',
  'c',
  [
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
  ],
  (appends) => appends.flatMap(({ commands }) => commands),
  (rows) => `
  insert into noetl.command (event_id, execution_id, position, command_id, step, tool_kind, pool, status, attempt,
    lease_token, worker_id, requires, lease_until, claimed_at, finished_at)
  select event_id, execution_id, position, command_id, step, tool_kind, pool, status, attempt, lease_token, worker_id,
    requires::text[],
    case when status = 'CLAIMED' then now() + lease_seconds * interval '1 second' end,
    case when status = 'CLAIMED' then now() end,
    case when status not in ('PENDING', 'CLAIMED', 'PARKED') then now() end
  from ${rows} join won using (execution_id)`,
)

const CHANGES = part<CommandUpdate>(
  'changes',
  'd',
  [
    { name: 'event_id', type: 'bigint', of: (row) => row.eventId },
    { name: 'execution_id', type: 'bigint', of: (row) => row.executionId },
    { name: 'status', type: 'text', of: (row) => row.status },
    { name: 'worker_id', type: 'text', of: (row) => text(row.workerId) },
    { name: 'lease_seconds', type: 'float8', of: (row) => row.leaseSeconds },
  ],
  (appends) => appends.flatMap(({ changes }) => changes),
  (rows) => `
  update noetl.command k
  set status = r.status,
    worker_id = case r.status when 'PENDING' then null when 'CLAIMED' then r.worker_id else k.worker_id end,
    lease_until = case when r.status = 'CLAIMED' then now() + r.lease_seconds * interval '1 second' end,
    claimed_at = case when r.status = 'CLAIMED' then now() else k.claimed_at end,
    finished_at = case when r.status not in ('PENDING', 'CLAIMED', 'PARKED') then now() end
  from ${rows} join won on won.execution_id = r.execution_id
  where k.event_id = r.event_id`,
)

const TIMERS = part<TimerToSet>(
  'timers',
  't',
  [
    { name: 'timer_id', type: 'bigint', of: (row) => row.timerId },
    { name: 'execution_id', type: 'bigint', of: (row) => row.executionId },
    { name: 'delay_ms', type: 'float8', of: (row) => row.delayMs },
    { name: 'kind', type: 'text', of: (row) => row.kind },
    { name: 'payload', type: 'json', of: (row) => storableJson(row.payload) },
  ],
  (appends) => appends.flatMap(({ timers }) => timers),
  (rows) => `
  insert into noetl.timer (timer_id, execution_id, due_at, kind, payload)
  select timer_id, execution_id, now() + delay_ms * interval '1 millisecond', kind, payload
  from ${rows} join won using (execution_id)`,
)

/** In the order in which they stand in the statement; those that win come first. */
export const APPEND_PARTS: readonly AppendPart[] = [INSERTED, UPDATED, EVENTS, COMMANDS, CHANGES, TIMERS]
