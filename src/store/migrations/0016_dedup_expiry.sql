-- Until when a key is kept: the longest window that was given for it. Windows of keys that are there already are not
-- known; none is longer than a year.
alter table noetl.execution_dedup add column expires_at timestamptz not null default now() + interval '1 year';
create index execution_dedup_expiry on noetl.execution_dedup (expires_at);
-- Nobody looks for keys by the time they were seen.
drop index noetl.execution_dedup_age;
