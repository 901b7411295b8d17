-- Lists that cost the same however much is stored.

-- Every filter of the list of executions is a range of one of these indexes, read from its end: an equality for each
-- column before the id, and the ids in order. Status stands in all of them. The end of an execution changes its status
-- and therefore writes new entries into its indexes anyway, so that it costs no more than an index without it.
drop index noetl.execution_running;
drop index noetl.execution_ended_badly;
drop index noetl.execution_by_catalog;
drop index noetl.execution_by_parent;
create index execution_by_status on noetl.execution (status, execution_id);
create index execution_by_catalog on noetl.execution (catalog_id, status, execution_id);
create index execution_by_parent on noetl.execution (parent_execution_id, status, execution_id)
  where parent_execution_id is not null;
-- The paths that occur are found by jumping from one to the next, which is how a part of a path is searched for.
create index execution_by_path on noetl.execution (path collate "C", status, execution_id);

-- What discovery asks for; it stands in the metadata of a document.
alter table noetl.catalog add column agent boolean not null default false;
alter table noetl.catalog add column capabilities text[] not null default '{}';
create index catalog_agents on noetl.catalog (catalog_id) where agent;

-- An entry that no execution needed when it was deleted. Nobody finds it any more, but its text stays for a while: an
-- execution may have been starting at that very moment.
alter table noetl.catalog add column removed_at timestamptz;
alter table noetl.catalog add constraint catalog_removed check (removed_at is null or archived_at is not null);
create index catalog_removed_at on noetl.catalog (removed_at) where removed_at is not null;
