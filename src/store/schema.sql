-- The schema that the migrations add up to. Written by `npm run schema`, read by reviewers; not executed.

create table noetl.access_token (
  id bigint generated always as identity not null,
  name text not null,
  role text not null,
  secret_digest bytea not null,
  created_at timestamp with time zone default now() not null,
  created_by text not null,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  revoked_by text,
  constraint access_token_pkey PRIMARY KEY (id),
  constraint access_token_digest CHECK ((length(secret_digest) = 32)),
  constraint access_token_name CHECK ((name <> ''::text)),
  constraint access_token_revoked CHECK (((revoked_at IS NULL) = (revoked_by IS NULL))),
  constraint access_token_role CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text, 'admin'::text, 'worker'::text])))
) with (fillfactor=80);

create table noetl.audit (
  audit_id bigint generated always as identity not null,
  occurred_at timestamp with time zone default now() not null,
  actor text not null,
  role text not null,
  token_id bigint,
  action text not null,
  target text,
  outcome text not null,
  address text,
  worker_id text,
  execution_id bigint,
  parent_execution_id bigint,
  details json default '{}'::json not null,
  constraint audit_pkey PRIMARY KEY (audit_id),
  constraint audit_outcome CHECK ((outcome = ANY (ARRAY['success'::text, 'denied'::text, 'not_found'::text, 'error'::text])))
);
CREATE INDEX audit_by_action ON noetl.audit USING btree (action text_pattern_ops, audit_id);
CREATE INDEX audit_by_actor ON noetl.audit USING btree (actor, audit_id);
CREATE INDEX audit_by_execution ON noetl.audit USING btree (execution_id, audit_id) WHERE (execution_id IS NOT NULL);
CREATE INDEX audit_by_target ON noetl.audit USING btree (target, audit_id) WHERE (target IS NOT NULL);
CREATE INDEX audit_by_time ON noetl.audit USING btree (occurred_at);

create table noetl.catalog (
  catalog_id bigint not null,
  path text not null,
  version integer not null,
  kind text not null,
  content text not null,
  layout json,
  payload json,
  meta json,
  created_at timestamp with time zone default now() not null,
  archived_at timestamp with time zone,
  agent boolean default false not null,
  capabilities text[] default '{}'::text[] not null,
  removed_at timestamp with time zone,
  constraint catalog_pkey PRIMARY KEY (catalog_id),
  constraint catalog_path_version UNIQUE (path, version),
  constraint catalog_removed CHECK (((removed_at IS NULL) OR (archived_at IS NOT NULL))),
  constraint catalog_version_check CHECK ((version > 0))
);
CREATE INDEX catalog_agents ON noetl.catalog USING btree (catalog_id) WHERE agent;
CREATE INDEX catalog_kind ON noetl.catalog USING btree (kind, catalog_id DESC);
CREATE INDEX catalog_removed_at ON noetl.catalog USING btree (removed_at) WHERE (removed_at IS NOT NULL);

create table noetl.command (
  event_id bigint not null,
  execution_id bigint not null,
  "position" integer not null,
  command_id text not null,
  step text not null,
  tool_kind text not null,
  pool text not null,
  status text not null,
  attempt integer default 0 not null,
  lease_token bigint default 0 not null,
  worker_id text,
  lease_until timestamp with time zone,
  available_at timestamp with time zone default now() not null,
  created_at timestamp with time zone default now() not null,
  claimed_at timestamp with time zone,
  finished_at timestamp with time zone,
  requires text[],
  constraint command_pkey PRIMARY KEY (event_id)
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.02, fillfactor=70);
CREATE INDEX command_demands ON noetl.command USING btree (pool, requires, event_id) WHERE ((status = 'PENDING'::text) AND (requires IS NOT NULL));
CREATE INDEX command_leases ON noetl.command USING btree (lease_until) WHERE (status = 'CLAIMED'::text);
CREATE INDEX command_parked ON noetl.command USING btree (execution_id) WHERE (status = 'PARKED'::text);
CREATE INDEX command_queue ON noetl.command USING btree (pool, event_id) WHERE ((status = 'PENDING'::text) AND (requires IS NULL));

create table noetl.credential (
  id bigint not null,
  name text not null,
  type text not null,
  data_encrypted text not null,
  schema json,
  meta json,
  tags text[],
  description text,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint credential_pkey PRIMARY KEY (id),
  constraint credential_by_name UNIQUE (name),
  constraint credential_name CHECK ((name <> ''::text))
);
CREATE INDEX credential_by_type ON noetl.credential USING btree (type, name);

create table noetl.encryption_probe (
  is_only boolean default true not null,
  envelope text not null,
  written_at timestamp with time zone default now() not null,
  constraint encryption_probe_pkey PRIMARY KEY (is_only),
  constraint encryption_probe_is_only_check CHECK (is_only)
);

create table noetl.event (
  execution_id bigint not null,
  "position" integer not null,
  event_id bigint not null,
  created_at timestamp with time zone not null,
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
  id_from_sender boolean default false not null,
  constraint event_pkey PRIMARY KEY (execution_id, "position"),
  constraint chk_event_result_shape CHECK ((((result_status IS NOT NULL) OR ((result_context IS NULL) AND (result_reference IS NULL))) AND ((result_context IS NULL) OR (json_typeof(result_context) = 'object'::text)) AND ((result_reference IS NULL) OR (json_typeof(result_reference) = 'object'::text))))
) partition by range (execution_id);
CREATE UNIQUE INDEX event_by_sender_id ON ONLY noetl.event USING btree (execution_id, event_id) WHERE id_from_sender;

create table noetl.event_batch (
  execution_id bigint not null,
  key text not null,
  digest bytea not null,
  event_ids bigint[] not null,
  commands_generated integer,
  seen_at timestamp with time zone default now() not null,
  constraint event_batch_pkey PRIMARY KEY (execution_id, key)
);
CREATE INDEX event_batch_age ON noetl.event_batch USING btree (seen_at);

create table noetl.event_default partition of noetl.event default;

create table noetl.execution (
  execution_id bigint not null,
  catalog_id bigint not null,
  path text not null,
  playbook_version integer,
  parent_execution_id bigint,
  pool text not null,
  status text not null,
  version integer not null,
  total_steps integer default 0 not null,
  completed_steps integer default 0 not null,
  running_steps integer default 0 not null,
  failed_steps integer default 0 not null,
  current_step text,
  error text,
  imported boolean default false not null,
  started_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  origin_execution_id bigint,
  origin_event bigint,
  constraint execution_pkey PRIMARY KEY (execution_id)
) with (autovacuum_vacuum_scale_factor=0.05, fillfactor=70);
CREATE INDEX execution_by_catalog ON noetl.execution USING btree (catalog_id, status, execution_id);
CREATE INDEX execution_by_origin ON noetl.execution USING btree (origin_execution_id, execution_id) WHERE (origin_execution_id IS NOT NULL);
CREATE INDEX execution_by_parent ON noetl.execution USING btree (parent_execution_id, status, execution_id) WHERE (parent_execution_id IS NOT NULL);
CREATE INDEX execution_by_path ON noetl.execution USING btree (path COLLATE "C", status, execution_id);
CREATE INDEX execution_by_status ON noetl.execution USING btree (status, execution_id);

create table noetl.execution_dedup (
  scope bigint not null,
  key text not null,
  execution_id bigint not null,
  seen_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone default (now() + '1 year'::interval) not null,
  constraint execution_dedup_pkey PRIMARY KEY (scope, key)
);
CREATE INDEX execution_dedup_expiry ON noetl.execution_dedup USING btree (expires_at);

create table noetl.imported_event (
  execution_id bigint not null,
  event_id bigint not null,
  "position" integer not null,
  created_at timestamp with time zone not null,
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
  constraint imported_event_pkey PRIMARY KEY (execution_id, event_id),
  constraint imported_event_position_check CHECK (("position" >= 0))
);
CREATE INDEX imported_event_order ON noetl.imported_event USING btree (execution_id, "position");

create table noetl.keychain (
  cache_key text not null,
  keychain_name text not null,
  catalog_id bigint not null,
  credential_type text,
  cache_type text not null,
  scope_type text not null,
  execution_id bigint,
  parent_execution_id bigint,
  data_encrypted text not null,
  renew_config_encrypted text,
  auto_renew boolean default false not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone default now() not null,
  accessed_at timestamp with time zone,
  access_count bigint default 0 not null,
  constraint keychain_pkey PRIMARY KEY (cache_key),
  constraint keychain_catalog_id_fkey FOREIGN KEY (catalog_id) REFERENCES noetl.catalog(catalog_id) ON DELETE CASCADE,
  constraint keychain_cache_type CHECK ((cache_type = ANY (ARRAY['secret'::text, 'token'::text]))),
  constraint keychain_scope_type CHECK ((scope_type = ANY (ARRAY['local'::text, 'global'::text, 'shared'::text])))
);
CREATE INDEX keychain_by_catalog ON noetl.keychain USING btree (catalog_id, keychain_name);
CREATE INDEX keychain_expiry ON noetl.keychain USING btree (expires_at);

create table noetl.keychain_claim (
  cache_key text not null,
  holder text not null,
  until timestamp with time zone not null,
  constraint keychain_claim_pkey PRIMARY KEY (cache_key)
);

create table noetl.machine (
  machine_id integer not null,
  holder text not null,
  held_until timestamp with time zone not null,
  constraint machine_pkey PRIMARY KEY (machine_id),
  constraint machine_machine_id_check CHECK (((machine_id >= 0) AND (machine_id <= 1023)))
);

create table noetl.migration (
  number integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone default now() not null,
  constraint migration_pkey PRIMARY KEY (number)
);

create table noetl.object (
  object_key text not null,
  digest text not null,
  media_type text not null,
  bytes bytea storage e not null,
  updated_at timestamp with time zone default now() not null,
  constraint object_pkey PRIMARY KEY (object_key)
);

create table noetl.outbox (
  outbox_id bigint generated always as identity not null,
  execution_id bigint,
  event_id bigint not null,
  subject text,
  payload json not null,
  payload_codec text default 'json'::text not null,
  status text default 'PENDING'::text not null,
  attempts integer default 0 not null,
  available_at timestamp with time zone default now() not null,
  locked_at timestamp with time zone,
  published_at timestamp with time zone,
  last_error text,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint outbox_pkey PRIMARY KEY (outbox_id),
  constraint outbox_message UNIQUE (execution_id, event_id, subject),
  constraint outbox_status CHECK ((status = ANY (ARRAY['PENDING'::text, 'IN_FLIGHT'::text, 'PUBLISHED'::text, 'FAILED'::text])))
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX outbox_published ON noetl.outbox USING btree (published_at) WHERE (status = 'PUBLISHED'::text);
CREATE INDEX outbox_queue ON noetl.outbox USING btree (outbox_id) WHERE (status = ANY (ARRAY['PENDING'::text, 'IN_FLIGHT'::text, 'FAILED'::text]));

create table noetl.plugin_module (
  path text not null,
  version integer not null,
  digest text not null,
  media_type text not null,
  bytes bytea storage e not null,
  updated_at timestamp with time zone default now() not null,
  constraint plugin_module_pkey PRIMARY KEY (path, version)
);

create table noetl.replay_snapshot (
  execution_id bigint not null,
  tenant_id text not null,
  organization_id text not null,
  last_event_id bigint not null,
  event_count integer not null,
  resume_position integer not null,
  last_position integer not null,
  seen_position integer not null,
  disordered boolean not null,
  last_created_at timestamp with time zone not null,
  format integer not null,
  sha256 text not null,
  state bytea storage e not null,
  created_at timestamp with time zone default now() not null,
  constraint replay_snapshot_pkey PRIMARY KEY (execution_id, tenant_id, organization_id, last_event_id),
  constraint replay_snapshot_event_count_check CHECK ((event_count > 0))
);

create table noetl.result (
  result_id bigint not null,
  execution_id bigint not null,
  name text not null,
  scope text default 'execution'::text not null,
  source_step text,
  media_type text default 'application/json'::text not null,
  bytes bigint not null,
  sha256 text not null,
  data bytea not null,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone,
  logical_uri text,
  constraint result_pkey PRIMARY KEY (result_id)
);
CREATE INDEX result_by_name ON noetl.result USING btree (execution_id, name, result_id DESC);
CREATE INDEX result_by_uri ON noetl.result USING btree (execution_id, logical_uri) WHERE (logical_uri IS NOT NULL);
CREATE INDEX result_expiry ON noetl.result USING btree (expires_at) WHERE (expires_at IS NOT NULL);

create table noetl.runtime (
  runtime_id bigint not null,
  name text not null,
  kind text not null,
  uri text,
  status text not null,
  labels json,
  capabilities json,
  capacity integer,
  runtime json,
  heartbeat timestamp with time zone default now() not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint runtime_pkey PRIMARY KEY (runtime_id),
  constraint runtime_by_name UNIQUE (kind, name),
  constraint runtime_capacity_check CHECK ((capacity >= 0)),
  constraint runtime_kind CHECK ((kind = ANY (ARRAY['worker_pool'::text, 'server_api'::text, 'broker'::text])))
) with (fillfactor=70);

create table noetl.snapshot (
  execution_id bigint not null,
  "position" integer not null,
  state bytea storage e not null,
  created_at timestamp with time zone default now() not null,
  constraint snapshot_pkey PRIMARY KEY (execution_id, "position")
);

create table noetl.subscription (
  subscription_id bigint not null,
  path text not null,
  catalog_id bigint not null,
  state text not null,
  last_event_type text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint subscription_pkey PRIMARY KEY (subscription_id),
  constraint subscription_state CHECK ((state = ANY (ARRAY['REGISTERED'::text, 'ACTIVE'::text, 'PAUSED'::text, 'DRAINING'::text, 'DEACTIVATED'::text])))
);
CREATE UNIQUE INDEX subscription_of_path ON noetl.subscription USING btree (path) WHERE (state <> 'DEACTIVATED'::text);

create table noetl.timer (
  timer_id bigint not null,
  execution_id bigint not null,
  due_at timestamp with time zone not null,
  kind text not null,
  payload json not null,
  created_at timestamp with time zone default now() not null,
  constraint timer_pkey PRIMARY KEY (timer_id)
);
CREATE INDEX timer_by_execution ON noetl.timer USING btree (execution_id);
CREATE INDEX timer_due ON noetl.timer USING btree (due_at);

create table noetl.tool_output (
  execution_id bigint not null,
  event_id bigint not null,
  attempt integer not null,
  part integer not null,
  stream text not null,
  at timestamp with time zone not null,
  text text not null,
  step text not null,
  command_id text not null,
  xact xid8 default pg_current_xact_id() not null,
  constraint tool_output_pkey PRIMARY KEY (execution_id, event_id, attempt, part),
  constraint tool_output_part_check CHECK ((part > 0)),
  constraint tool_output_stream CHECK ((stream = ANY (ARRAY['stdout'::text, 'stderr'::text])))
);
CREATE INDEX tool_output_age ON noetl.tool_output USING btree (at);
CREATE INDEX tool_output_order ON noetl.tool_output USING btree (execution_id, xact, event_id, attempt, part);

create table noetl.variable (
  execution_id bigint not null,
  var_name text not null,
  var_type text not null,
  var_value json not null,
  sealed bytea,
  source_step text,
  created_at timestamp with time zone default now() not null,
  accessed_at timestamp with time zone default now() not null,
  access_count bigint default 0 not null,
  constraint variable_pkey PRIMARY KEY (execution_id, var_name),
  constraint variable_name CHECK ((var_name <> ''::text)),
  constraint variable_type CHECK ((var_type = ANY (ARRAY['user_defined'::text, 'step_result'::text, 'computed'::text, 'iterator_state'::text])))
);

create view noetl.event_log as
 SELECT execution_id,
    "position",
    event_id,
    created_at,
    event_type,
    node_name,
    node_type,
    status,
    parent_event_id,
    worker_id,
    duration_ms,
    context,
        CASE
            WHEN result_status IS NOT NULL THEN
            CASE
                WHEN result_context IS NULL AND result_reference IS NULL THEN json_build_object('status', result_status)
                WHEN result_reference IS NULL THEN json_build_object('status', result_status, 'context', result_context)
                WHEN result_context IS NULL THEN json_build_object('status', result_status, 'reference', result_reference)
                ELSE json_build_object('status', result_status, 'context', result_context, 'reference', result_reference)
            END
            ELSE NULL::json
        END AS result,
    meta,
    error,
    extra
   FROM noetl.event e;
