-- Who may use the server, and who did what.

-- Tokens by number. Of the token itself only the SHA-256 of its secret part is kept. Rows stay when a token is revoked:
-- that there was one closes the server to callers without a token, for good.
create table noetl.access_token (
  id bigint generated always as identity primary key,
  name text not null,
  role text not null,
  secret_digest bytea not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  revoked_by text,
  constraint access_token_name check (name <> ''),
  constraint access_token_role check (role in ('viewer', 'operator', 'admin', 'worker')),
  constraint access_token_digest check (length(secret_digest) = 32),
  constraint access_token_revoked check ((revoked_at is null) = (revoked_by is null))
) with (fillfactor = 80);

-- What callers did that no execution's log tells: changes of the catalog, of secrets, of tokens, and every look at a
-- secret. Rows name things; they hold no secret.
create table noetl.audit (
  audit_id bigint generated always as identity primary key,
  occurred_at timestamptz not null default now(),
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
  details json not null default '{}',
  constraint audit_outcome check (outcome in ('success', 'denied', 'not_found', 'error'))
);
create index audit_by_time on noetl.audit (occurred_at);
create index audit_by_actor on noetl.audit (actor, audit_id);
create index audit_by_action on noetl.audit (action text_pattern_ops, audit_id);
create index audit_by_target on noetl.audit (target, audit_id) where target is not null;
create index audit_by_execution on noetl.audit (execution_id, audit_id) where execution_id is not null;
