-- Which execution a key started. A request that repeats a key within its window gets that execution.
create table noetl.execution_dedup (
  scope bigint not null,
  key text not null,
  execution_id bigint not null,
  seen_at timestamptz not null default now(),
  primary key (scope, key)
);
create index execution_dedup_age on noetl.execution_dedup (seen_at);
