-- An envelope sealed with the key in use, to tell at the next start whether the key is still the same. One row at most.
create table noetl.encryption_probe (
  is_only boolean primary key default true check (is_only),
  envelope text not null,
  written_at timestamptz not null default now()
);
