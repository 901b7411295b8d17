-- What tools print while they run, piece by piece, per attempt of a command. `xact` gives readers that follow an
-- order in which nothing appears behind what they have already seen.
create table noetl.tool_output (
  execution_id bigint not null,
  event_id bigint not null,
  attempt integer not null,
  part integer not null check (part > 0),
  stream text not null,
  at timestamptz not null,
  text text not null,
  step text not null,
  command_id text not null,
  xact xid8 not null default pg_current_xact_id(),
  primary key (execution_id, event_id, attempt, part),
  constraint tool_output_stream check (stream in ('stdout', 'stderr'))
);
create index tool_output_order on noetl.tool_output (execution_id, xact, event_id, attempt, part);
create index tool_output_age on noetl.tool_output (at);
