-- What a worker must be able to do to get the command; null when any worker of the pool will do.
alter table noetl.command add column requires text[];
