-- Messages for the outside, events of executions that run elsewhere, and files that workers fetch.

-- Claimed in the order of their ids. A claim moves `available_at` to the instant at which it runs out, so one condition
-- finds what waits, what failed and may be tried again, and what a dead publisher left behind.
drop index noetl.outbox_waiting;
create index outbox_queue on noetl.outbox (outbox_id) where status in ('PENDING', 'IN_FLIGHT', 'FAILED');
create index outbox_published on noetl.outbox (published_at) where status = 'PUBLISHED';
alter table noetl.outbox set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- Events that others brought about executions which run here. They are shown; no decision reads them, which is why they
-- are not in the log. `position` is the place in the log at which they arrived.
-- (Events of executions that run elsewhere are the log of those executions, whose rows say `imported`.)
create table noetl.imported_event (
  execution_id bigint not null,
  event_id bigint not null,
  position integer not null check (position >= 0),
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
  primary key (execution_id, event_id)
);
create index imported_event_order on noetl.imported_event (execution_id, position);

-- Code that workers load, by path and version. Uploading again replaces it.
create table noetl.plugin_module (
  path text not null,
  version integer not null,
  digest text not null,
  media_type text not null,
  bytes bytea not null,
  updated_at timestamptz not null default now(),
  primary key (path, version)
);

-- Files by key.
create table noetl.object (
  object_key text primary key,
  digest text not null,
  media_type text not null,
  bytes bytea not null,
  updated_at timestamptz not null default now()
);
alter table noetl.plugin_module alter column bytes set storage external;
alter table noetl.object alter column bytes set storage external;
