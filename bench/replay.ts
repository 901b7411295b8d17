/**
 * Replay on the clock: events folded in memory, a long log replayed from PostgreSQL, and any point of it, beside a
 * plain select of the same rows, so that numbers of different machines can be compared as ratios.
 *
 *     node --expose-gc bench/replay.ts [events]
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { foldEvent } from '../src/replay/projection/fold.ts'
import { createFoldState } from '../src/replay/projection/fold-state.ts'
import type { ReplayRow } from '../src/replay/projection/replay-event.ts'
import { eventOfRow } from '../src/replay/projection/replay-event.ts'
import { createReplayView } from '../src/replay/projection/view.ts'
import type { ReplayCutoff } from '../src/server/replay/replay.ts'
import { replay } from '../src/server/replay/replay.ts'
import { checksumsAmongOthers } from '../src/server/replay/replay-answer.ts'
import type { Database } from '../src/store/database.ts'
import { openDatabase } from '../src/store/database.ts'
import { startEmbeddedPostgres } from '../src/store/embedded/start.ts'
import { migrate } from '../src/store/migrate.ts'
import { readReplayPage } from '../src/store/replay-events.ts'
import { silentLog } from '../src/worker/log.ts'

const EVENTS = Number(process.argv[2] ?? 1_000_000)
const IN_MEMORY = 300_000
const ROUNDS = 5
const POINTS = 25
const PAGE = 4000
const EXECUTION = '324000000000000000'
const FIRST_ID = 324_000_000_000_000_000n
const scope = { tenantId: 'default', organizationId: 'default' }
const NO_CUTOFF: ReplayCutoff = { eventId: null, time: null, position: null }

/** The life of a command, as our own log tells it; the step is entered and left around it. */
const LIFE = ['step.enter', 'command.issued', 'command.claimed', 'command.completed', 'step.exit'] as const

const rowAt = (index: number): ReplayRow => {
  const eventType = LIFE[index % LIFE.length] ?? 'note'
  const command = `${EXECUTION}:step:${Math.floor(index / LIFE.length)}`
  return {
    eventId: (FIRST_ID + BigInt(index)).toString(),
    eventType,
    nodeName: 'step',
    status: eventType.startsWith('step') ? 'ENTERED' : 'COMPLETED',
    workerId: eventType === 'command.claimed' ? 'worker-1' : null,
    meta: eventType.startsWith('command')
      ? `{"command_id": "${command}", "attempt": 1, "step": "step", "actionable": true, "loop_id": "loop-${Math.floor(index / 5000)}"}`
      : '{"emitted_by": "orchestrator"}',
    contextCommandId: null,
    reference: null,
    extra: null,
  }
}

/** The same log in the table, made by the database itself. */
const FILL = `insert into noetl.event (execution_id, position, event_id, created_at, event_type, node_name, node_type, status, worker_id,
    meta, result_status, result_context)
  select $1::bigint, n + 1, $1::bigint + n, timestamptz '2026-01-01' + n * interval '1 millisecond', t, 'step', 'step',
    case when t like 'step%' then 'ENTERED' else 'COMPLETED' end, case when t = 'command.claimed' then 'worker-1' end,
    case when t like 'command%' then json_build_object('command_id', $1::text || ':step:' || n / 5, 'attempt', 1, 'step', 'step',
      'actionable', true, 'loop_id', 'loop-' || n / 5000) else '{"emitted_by": "orchestrator"}'::json end,
    case when t like '%d' then 'COMPLETED' end,
    case when t = 'command.completed' then '{"result": {"status": "success", "context": {"data": {"ok": true}}}}'::json end
  from (select n, (array['step.enter', 'command.issued', 'command.claimed', 'command.completed', 'step.exit'])[1 + n % 5] as t
    from generate_series(0, $2::int - 1) n) g`

const perSecond = (count: number, milliseconds: number): string =>
  `${Math.round(count / (milliseconds / 1000)).toLocaleString('en')} events/s`

const best = (measure: () => number): number => Math.min(...Array.from({ length: ROUNDS }, measure))

const timed = async <T>(work: () => Promise<T>): Promise<{ milliseconds: number; result: T }> => {
  const start = performance.now()
  const result = await work()
  return { milliseconds: performance.now() - start, result }
}

const benchMemory = (): void => {
  const rows = Array.from({ length: IN_MEMORY }, (_, index) => rowAt(index))
  const events = rows.map((row) => eventOfRow(row, scope)).filter((event) => event !== null)
  const fold = best(() => {
    const state = createFoldState()
    const start = performance.now()
    for (const event of events) foldEvent(state, event)
    return performance.now() - start
  })
  const read = best(() => {
    const state = createFoldState()
    const start = performance.now()
    for (const row of rows) {
      const event = eventOfRow(row, scope)
      if (event) foldEvent(state, event)
    }
    return performance.now() - start
  })
  console.log(`fold in memory            ${perSecond(IN_MEMORY, fold)}`)
  console.log(`read rows and fold        ${perSecond(IN_MEMORY, read)}`)
}

/** The highest memory of the process while something runs, above what it was before. */
const withMemory = async <T>(work: () => Promise<T>): Promise<{ megabytes: number; result: T }> => {
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let highest = before
  const timer = setInterval(() => (highest = Math.max(highest, process.memoryUsage().rss)), 20)
  const result = await work()
  clearInterval(timer)
  return { megabytes: (Math.max(highest, process.memoryUsage().rss) - before) / 2 ** 20, result }
}

const plainSelect = async (database: Database): Promise<number> => {
  const range = {
    executionId: EXECUTION,
    upTo: EVENTS,
    afterEventId: null,
    upToEventId: null,
    upToTime: null,
  }
  let count = 0
  for (let after = 0; ;) {
    const rows = await readReplayPage(database, { ...range, after }, PAGE)
    count += rows.length
    if (rows.length < PAGE) return count
    after = rows.at(-1)?.position ?? after
  }
}

const replayTo = async (
  database: Database,
  cutoff: Partial<ReplayCutoff>,
  useSnapshots: boolean,
): Promise<string> => {
  const request = {
    executionId: EXECUTION,
    scope,
    cutoff: { ...NO_CUTOFF, ...cutoff },
    limit: Number.POSITIVE_INFINITY,
  }
  const { state } = await replay(request, { database, log: silentLog, useSnapshots })
  const view = createReplayView(state, { executionId: EXECUTION, ...scope, projection: 'all', status: null })
  return (await checksumsAmongOthers(view)).checksum
}

const benchPostgres = async (database: Database): Promise<void> => {
  await database.query(FILL, [EXECUTION, EVENTS])
  await database.query('vacuum analyze noetl.event')
  await plainSelect(database)
  const select = await withMemory(() => timed(() => plainSelect(database)))
  const whole = await withMemory(() => timed(() => replayTo(database, {}, false)))
  const writing = await timed(() => replayTo(database, {}, true))
  const ratio = whole.result.milliseconds / select.result.milliseconds
  const row = (name: string, milliseconds: number, more: string): void =>
    console.log(
      `${name.padEnd(26)}${(milliseconds / 1000).toFixed(2)} s, ${perSecond(EVENTS, milliseconds)}${more}`,
    )
  row('plain select in pages', select.result.milliseconds, `, +${select.megabytes.toFixed(0)} MB`)
  row(
    'replay with checksums',
    whole.result.milliseconds,
    `, +${whole.megabytes.toFixed(0)} MB, ${ratio.toFixed(2)} of the select`,
  )
  row('replay leaving snapshots', writing.milliseconds, '')
  if (writing.result !== whole.result.result) throw new Error('with and without snapshots differ')
  const times: number[] = []
  for (let point = 1; point <= POINTS; point += 1) {
    const position = Math.round((EVENTS * point) / POINTS)
    times.push((await timed(() => replayTo(database, { position }, true))).milliseconds)
  }
  const sorted = times.toSorted((left, right) => left - right)
  const at = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(0)
  console.log(
    `any of ${POINTS} points          median ${at(0.5)} ms, slowest ${at(1)} ms, checksums included`,
  )
  const { rows } = await database.query<{ count: string; size: string }>(
    'select count(*), pg_size_pretty(sum(length(state))) as size from noetl.replay_snapshot',
  )
  console.log(`snapshots                 ${rows[0]?.count} of ${rows[0]?.size} in all`)
}

console.log(`${EVENTS.toLocaleString('en')} events`)
const postgres = await startEmbeddedPostgres({
  dataDir: mkdtempSync(join(tmpdir(), 'noetl-bench-replay-')),
  settings: { fsync: 'off' },
  temporary: true,
})
try {
  await migrate(postgres.url)
  const database = openDatabase({ url: postgres.url, maxConnections: 4, onError: () => undefined })
  await benchPostgres(database)
  await database.end()
} finally {
  await postgres.stop()
}
benchMemory()
