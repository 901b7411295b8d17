-- Who makes ids with which ten bits. A holder that does not renew in time loses its number.
create table noetl.machine (
  machine_id integer primary key check (machine_id between 0 and 1023),
  holder text not null,
  held_until timestamptz not null
);
