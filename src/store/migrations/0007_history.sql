-- Where a rerun or fork comes from: the execution, and the last event that was taken over from it.
alter table noetl.execution add column origin_execution_id bigint;
alter table noetl.execution add column origin_event bigint;
create index execution_by_origin on noetl.execution (origin_execution_id, execution_id)
  where origin_execution_id is not null;

-- Snapshots are sealed, and sealed bytes cannot be compressed: nobody need try.
alter table noetl.snapshot alter column state set storage external;
