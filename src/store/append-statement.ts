/**
 * The statement that changes executions: one for any number of them, atomic for each.
 *
 * An append names the version it was decided on. The row of the execution is inserted (version 0 expected) or
 * updated (that very version expected); events, commands, command changes and timers are written only for executions
 * whose row was won. A loser writes nothing at all and is told so.
 */
export const APPEND_STATEMENT = `
with x as (
  select * from json_to_recordset($1::json) as t(
    i bigint, v int, n int, s text, at timestamptz, c bigint, p text, pv int, pa bigint, po text,
    ts int, cs int, rs int, fs int, st text, er text)
), inserted as (
  insert into noetl.execution (execution_id, version, status, started_at, updated_at, finished_at, catalog_id, path,
    playbook_version, parent_execution_id, pool, total_steps, completed_steps, running_steps, failed_steps, current_step, error)
  select i, n, s, at, at, case when s <> 'RUNNING' then at end, c, p, pv, pa, po, ts, cs, rs, fs, st, er
  from x where v = 0
  on conflict do nothing
  returning execution_id
), updated as (
  update noetl.execution e
  set version = x.n, status = x.s, updated_at = x.at, finished_at = case when x.s <> 'RUNNING' then coalesce(e.finished_at, x.at) end,
    total_steps = x.ts, completed_steps = x.cs, running_steps = x.rs, failed_steps = x.fs, current_step = x.st, error = x.er
  from x
  where x.v > 0 and e.execution_id = x.i and e.version = x.v
  returning e.execution_id
), won as (
  select execution_id from inserted union all select execution_id from updated
), events as (
  insert into noetl.event (execution_id, position, event_id, created_at, event_type, node_name, node_type, status,
    parent_event_id, worker_id, duration_ms, context, result_status, result_context, result_reference, meta, error, sealed,
    id_from_sender)
  select e.i, e.p, e.e, e.at, e.t, e.n, e.k, e.s, e.pe, e.w, e.d, e.c, e.rs, e.rc, e.rr, e.m, e.er, decode(e.x, 'base64'),
    coalesce(e.g, false)
  from json_to_recordset($2::json) as e(
    i bigint, p int, e bigint, at timestamptz, t text, n text, k text, s text, pe bigint, w text, d float8,
    c json, rs text, rc json, rr json, m json, er text, x text, g boolean)
  join won on won.execution_id = e.i
), commands as (
  insert into noetl.command (event_id, execution_id, position, command_id, step, tool_kind, pool, status, attempt,
    lease_token, worker_id, lease_until, claimed_at, finished_at)
  select c.e, c.i, c.p, c.c, c.st, c.k, c.po, c.s, c.a, c.lt, c.w,
    case when c.s = 'CLAIMED' then now() + c.ls * interval '1 second' end,
    case when c.s = 'CLAIMED' then now() end,
    case when c.s not in ('PENDING', 'CLAIMED', 'PARKED') then now() end
  from json_to_recordset($3::json) as c(
    e bigint, i bigint, p int, c text, st text, k text, po text, s text, a int, lt bigint, w text, ls float8)
  join won on won.execution_id = c.i
), changes as (
  update noetl.command k
  set status = d.s,
    worker_id = case d.s when 'PENDING' then null when 'CLAIMED' then d.w else k.worker_id end,
    lease_until = case when d.s = 'CLAIMED' then now() + d.ls * interval '1 second' end,
    claimed_at = case when d.s = 'CLAIMED' then now() else k.claimed_at end,
    finished_at = case when d.s not in ('PENDING', 'CLAIMED', 'PARKED') then now() end
  from json_to_recordset($4::json) as d(e bigint, i bigint, s text, w text, ls float8)
  join won on won.execution_id = d.i
  where k.event_id = d.e
), timers as (
  insert into noetl.timer (timer_id, execution_id, due_at, kind, payload)
  select t.t, t.i, now() + t.d * interval '1 millisecond', t.k, t.p
  from json_to_recordset($5::json) as t(t bigint, i bigint, d float8, k text, p json)
  join won on won.execution_id = t.i
)
select execution_id from won`
