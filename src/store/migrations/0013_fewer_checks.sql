-- PostgreSQL reads the text of every check of a table again for each statement that writes to it: a fifth of the cost of a
-- small append. What these said follows from the log, and `noetl doctor` compares it; tests run with them.
alter table noetl.execution
  drop constraint execution_status,
  drop constraint execution_finished,
  drop constraint execution_version_check;
alter table noetl.command
  drop constraint command_status,
  drop constraint command_lease;
alter table noetl.event
  drop constraint event_meta_object,
  drop constraint event_position_check;
