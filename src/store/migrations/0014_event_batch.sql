-- Batches of events that their sender may send again under the same key: which events they are, and what was answered.
create table noetl.event_batch (
  execution_id bigint not null,
  key text not null,
  -- Of what was sent: another batch under the same key is a mistake.
  digest bytea not null,
  -- Fixed before anything is written, so that writing it again is recognised.
  event_ids bigint[] not null,
  -- Null until the batch is answered.
  commands_generated int,
  seen_at timestamptz not null default now(),
  primary key (execution_id, key)
);
create index event_batch_age on noetl.event_batch (seen_at);
