-- The store: one append-only log per execution, one row that says where the execution stands, the queue of
-- commands, and what belongs to them. Everything but event, catalog and result can be rebuilt from the log.

-- Playbooks and other documents, versioned by path and immutable once written.
create table noetl.catalog (
  catalog_id bigint primary key,
  path text not null,
  version integer not null check (version > 0),
  kind text not null,
  content text not null,
  layout json,
  payload json,
  meta json,
  created_at timestamptz not null default now(),
  archived_at timestamptz,
  constraint catalog_path_version unique (path, version)
);
create index catalog_kind on noetl.catalog (kind, catalog_id desc);

-- Where an execution stands, written by the statement that appends its events. `version` is the position of
-- the last event: an append that expects another version changes nothing.
create table noetl.execution (
  execution_id bigint primary key,
  catalog_id bigint not null,
  path text not null,
  playbook_version integer,
  parent_execution_id bigint,
  pool text not null,
  status text not null,
  version integer not null check (version >= 0),
  total_steps integer not null default 0,
  completed_steps integer not null default 0,
  running_steps integer not null default 0,
  failed_steps integer not null default 0,
  current_step text,
  error text,
  imported boolean not null default false,
  started_at timestamptz not null,
  updated_at timestamptz not null,
  finished_at timestamptz,
  constraint execution_status check (status in ('RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED')),
  constraint execution_finished check ((status = 'RUNNING') = (finished_at is null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
-- Completed executions are the many: they are found along the primary key. The few others have their own indexes,
-- which an execution that runs through does not touch at its end.
create index execution_running on noetl.execution (execution_id) where status = 'RUNNING';
create index execution_ended_badly on noetl.execution (status, execution_id) where status in ('FAILED', 'CANCELLED');
create index execution_by_catalog on noetl.execution (catalog_id, execution_id);
create index execution_by_parent on noetl.execution (parent_execution_id, execution_id)
  where parent_execution_id is not null;

-- The log. The result envelope {status, context?, reference?} is kept in three columns, so that no other key
-- can exist in it and its shape is a matter of types; view event_log shows it whole. `json`, not `jsonb`:
-- the order of keys is the author's. Sensitive values are replaced in the readable columns and kept,
-- encrypted, in `sealed`.
create table noetl.event (
  execution_id bigint not null,
  position integer not null check (position > 0),
  event_id bigint not null,
  created_at timestamptz not null,
  event_type text not null,
  node_name text,
  node_type text,
  status text,
  parent_event_id bigint,
  worker_id text,
  duration_ms double precision,
  context json,
  result_status text,
  result_context json,
  result_reference json,
  meta json not null,
  error text,
  sealed bytea,
  extra json,
  id_from_sender boolean not null default false,
  primary key (execution_id, position),
  constraint chk_event_result_shape check (
    (result_status is not null or (result_context is null and result_reference is null))
    and (result_context is null or json_typeof(result_context) = 'object')
    and (result_reference is null or json_typeof(result_reference) = 'object')
  ),
  constraint event_meta_object check (json_typeof(meta) = 'object')
) partition by range (execution_id);
-- Ids that this system makes are unique by themselves; ids that senders give are what repeats are recognised by. An
-- index on every row would cost a fifth of all appends.
create unique index event_by_sender_id on noetl.event (execution_id, event_id) where id_from_sender;
create table noetl.event_default partition of noetl.event default;

create view noetl.event_log as
select
  e.execution_id, e.position, e.event_id, e.created_at, e.event_type, e.node_name, e.node_type, e.status,
  e.parent_event_id, e.worker_id, e.duration_ms, e.context,
  case when e.result_status is not null then
    -- Absent keys are left out, while nulls inside the values stay.
    case
      when e.result_context is null and e.result_reference is null then json_build_object('status', e.result_status)
      when e.result_reference is null then json_build_object('status', e.result_status, 'context', e.result_context)
      when e.result_context is null then json_build_object('status', e.result_status, 'reference', e.result_reference)
      else json_build_object('status', e.result_status, 'context', e.result_context, 'reference', e.result_reference)
    end
  end as result,
  e.meta, e.error, e.extra
from noetl.event e;

-- Units of work. Small rows: what to do stands in the command.issued event at (execution_id, position).
-- `lease_token` grows with every lease, so that a holder that lost its lease can be told from the current one.
create table noetl.command (
  event_id bigint primary key,
  execution_id bigint not null,
  position integer not null,
  command_id text not null,
  step text not null,
  tool_kind text not null,
  pool text not null,
  status text not null,
  attempt integer not null default 0,
  lease_token bigint not null default 0,
  worker_id text,
  lease_until timestamptz,
  available_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  claimed_at timestamptz,
  finished_at timestamptz,
  constraint command_status check (status in ('PENDING', 'CLAIMED', 'PARKED', 'COMPLETED', 'FAILED', 'CANCELLED')),
  constraint command_lease check ((status = 'CLAIMED') = (lease_until is not null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index command_queue on noetl.command (pool, event_id) where status = 'PENDING';
create index command_leases on noetl.command (lease_until) where status = 'CLAIMED';
-- Commands that a worker let go of and that something outside will end: a child, a callback.
create index command_parked on noetl.command (execution_id) where status = 'PARKED';

-- The folded state of long executions, encrypted. A snapshot only saves time; deleting all of them is safe.
create table noetl.snapshot (
  execution_id bigint not null,
  position integer not null,
  state bytea not null,
  created_at timestamptz not null default now(),
  primary key (execution_id, position)
);

-- Something to tell an execution at an instant.
create table noetl.timer (
  timer_id bigint primary key,
  execution_id bigint not null,
  due_at timestamptz not null,
  kind text not null,
  payload json not null,
  created_at timestamptz not null default now()
);
create index timer_due on noetl.timer (due_at);
create index timer_by_execution on noetl.timer (execution_id);

-- Messages for the outside, written with the events they speak of.
create table noetl.outbox (
  outbox_id bigint generated always as identity primary key,
  execution_id bigint,
  event_id bigint not null,
  subject text,
  payload json not null,
  payload_codec text not null default 'json',
  status text not null default 'PENDING',
  attempts integer not null default 0,
  available_at timestamptz not null default now(),
  locked_at timestamptz,
  published_at timestamptz,
  last_error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint outbox_status check (status in ('PENDING', 'IN_FLIGHT', 'PUBLISHED', 'FAILED')),
  constraint outbox_message unique (execution_id, event_id, subject)
);
create index outbox_waiting on noetl.outbox (available_at, outbox_id) where status in ('PENDING', 'IN_FLIGHT', 'FAILED');

-- Results too large for an event, encrypted.
create table noetl.result (
  result_id bigint primary key,
  execution_id bigint not null,
  name text not null,
  scope text not null default 'execution',
  source_step text,
  media_type text not null default 'application/json',
  bytes bigint not null,
  sha256 text not null,
  data bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz
);
create index result_by_name on noetl.result (execution_id, name, result_id desc);
