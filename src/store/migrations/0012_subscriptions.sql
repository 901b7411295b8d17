-- Listeners that start executions when messages arrive; the runtime that listens is a worker's.
create table noetl.subscription (
  subscription_id bigint primary key,
  path text not null,
  catalog_id bigint not null,
  state text not null,
  last_event_type text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint subscription_state check (state in ('REGISTERED', 'ACTIVE', 'PAUSED', 'DRAINING', 'DEACTIVATED'))
);
-- Of one path there is one that is not over.
create unique index subscription_of_path on noetl.subscription (path) where state <> 'DEACTIVATED';
