-- Secrets, variables, who runs where, and what the result table still needs.

-- Secrets by name. `data_encrypted` is an envelope: the data under a key of its own, that key under the master key.
create table noetl.credential (
  id bigint primary key,
  name text not null,
  type text not null,
  data_encrypted text not null,
  schema json,
  meta json,
  tags text[],
  description text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint credential_by_name unique (name),
  constraint credential_name check (name <> '')
);
create index credential_by_type on noetl.credential (type, name);

-- Secrets that were fetched or issued for a playbook and are kept until they expire. How to renew one is itself
-- full of secrets, so it lies in an envelope too. Expired rows stay for a while: they tell how to renew.
create table noetl.keychain (
  cache_key text primary key,
  keychain_name text not null,
  catalog_id bigint not null references noetl.catalog (catalog_id) on delete cascade,
  credential_type text,
  cache_type text not null,
  scope_type text not null,
  execution_id bigint,
  parent_execution_id bigint,
  data_encrypted text not null,
  renew_config_encrypted text,
  auto_renew boolean not null default false,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  accessed_at timestamptz,
  access_count bigint not null default 0,
  constraint keychain_cache_type check (cache_type in ('secret', 'token')),
  constraint keychain_scope_type check (scope_type in ('local', 'global', 'shared'))
);
create index keychain_by_catalog on noetl.keychain (catalog_id, keychain_name);
create index keychain_expiry on noetl.keychain (expires_at);

-- Processes that announced themselves. A heartbeat changes one small row.
create table noetl.runtime (
  runtime_id bigint primary key,
  name text not null,
  kind text not null,
  uri text,
  status text not null,
  labels json,
  capabilities json,
  capacity integer check (capacity >= 0),
  runtime json,
  heartbeat timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint runtime_by_name unique (kind, name),
  constraint runtime_kind check (kind in ('worker_pool', 'server_api', 'broker'))
) with (fillfactor = 70);

-- Values that somebody outside the playbook attached to an execution. Sensitive ones are replaced in `var_value` and
-- kept, encrypted, in `sealed`.
create table noetl.variable (
  execution_id bigint not null,
  var_name text not null,
  var_type text not null,
  var_value json not null,
  sealed bytea,
  source_step text,
  created_at timestamptz not null default now(),
  accessed_at timestamptz not null default now(),
  access_count bigint not null default 0,
  primary key (execution_id, var_name),
  constraint variable_name check (var_name <> ''),
  constraint variable_type check (var_type in ('user_defined', 'step_result', 'computed', 'iterator_state'))
);

-- The stable name a result may have besides its reference, and the way to those that ran out.
alter table noetl.result add column logical_uri text;
create index result_by_uri on noetl.result (execution_id, logical_uri) where logical_uri is not null;
create index result_expiry on noetl.result (expires_at) where expires_at is not null;
