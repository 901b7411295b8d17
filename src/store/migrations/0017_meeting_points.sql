-- Commands that any worker of the pool can run, and those that ask for something, wait in queues of their own: who looks into one
-- does not have to pass by the other. An ordinary command is in one index, as before.
drop index noetl.command_queue;
create index command_queue on noetl.command (pool, event_id) where status = 'PENDING' and requires is null;
create index command_demands on noetl.command (pool, requires, event_id) where status = 'PENDING' and requires is not null;

-- Who is at making which entry of the keychain, and until when others wait for it.
create table noetl.keychain_claim (
  cache_key text primary key,
  holder text not null,
  until timestamptz not null
);
