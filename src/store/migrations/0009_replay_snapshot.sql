-- Folded states that a replay starts from instead of the first event. They save time only: deleting all of them is safe.
-- A snapshot stands for the events of its tenant up to `last_event_id`, as far as the log was known at `seen_position`; an event that
-- came later with a smaller id makes it void. What it holds is what the readable columns of the log hold, so it is not sealed.
create table noetl.replay_snapshot (
  execution_id bigint not null,
  tenant_id text not null,
  organization_id text not null,
  last_event_id bigint not null,
  event_count integer not null check (event_count > 0),
  -- Every position up to here is folded.
  resume_position integer not null,
  -- The highest position that is folded.
  last_position integer not null,
  seen_position integer not null,
  -- The order of ids is not the order of positions, not even nearly.
  disordered boolean not null,
  -- The newest time of an event that is folded.
  last_created_at timestamptz not null,
  format integer not null,
  -- Of `state`.
  sha256 text not null,
  state bytea not null,
  created_at timestamptz not null default now(),
  primary key (execution_id, tenant_id, organization_id, last_event_id)
);
-- Compressed already.
alter table noetl.replay_snapshot alter column state set storage external;
