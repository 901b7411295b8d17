/**
 * The numbers of one server, in the form Prometheus reads.
 *
 * 1. Labels are words of ours: what clients send becomes a label only if it is a known word, else `other`.
 * 2. Counting is cheap and never fails; what has to be asked of the database is asked when somebody reads.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { EVENT } from '../../contract/event.ts'
import { SECRET_LOOKS } from '../../store/audit.ts'
import type { Instruments } from '../instruments.ts'

const REQUEST_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const BATCH_BUCKETS = [1, 5, 10, 25, 50, 100, 250, 500, 1000]
const GROUP_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
const DECIDE_BUCKETS = [0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1]

const KNOWN_TYPES: ReadonlySet<string> = new Set([
  ...Object.values(EVENT),
  'command.heartbeat',
  'loop.done',
  'frame.committed',
  'frame.failed',
])

/** The type of an event as a label. */
export const eventTypeLabel = (eventType: unknown): string =>
  typeof eventType === 'string' && KNOWN_TYPES.has(eventType) ? eventType : 'other'

export type Metrics = ReturnType<typeof createMetrics>

export const createMetrics = () => {
  const register = new Registry()
  collectDefaultMetrics({ register })
  const registers = [register]
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter<L>({ name, help, labelNames: [...labelNames], registers })
  const histogram = <L extends string>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly L[] = [],
  ) => new Histogram<L>({ name, help, labelNames: [...labelNames], buckets: [...buckets], registers })
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge<L>({ name, help, labelNames: [...labelNames], registers })

  const requests = {
    total: counter('noetl_http_requests_total', 'Requests answered', ['method', 'route', 'status']),
    seconds: histogram('noetl_http_request_duration_seconds', 'Time to answer a request', REQUEST_BUCKETS, [
      'method',
      'route',
    ]),
  }
  const ingest = {
    total: counter('noetl_events_ingested_total', 'Events that workers and others reported', [
      'event_type',
      'status',
    ]),
    seconds: histogram(
      'noetl_event_ingest_duration_seconds',
      'Time to take a reported event',
      REQUEST_BUCKETS,
      ['event_type'],
    ),
  }
  const writes = {
    total: counter('noetl_write_requests_total', 'Requests that register or store something', [
      'endpoint',
      'status',
    ]),
    seconds: histogram(
      'noetl_write_request_duration_seconds',
      'Time to register or store something',
      REQUEST_BUCKETS,
      ['endpoint'],
    ),
  }
  const executes = {
    total: counter('noetl_execute_outcomes_total', 'Requests to start an execution', ['entry', 'outcome']),
    batch: histogram('noetl_execute_batch_size', 'Executions asked for by one batch', BATCH_BUCKETS),
  }
  const results = {
    put: counter('noetl_result_store_put_total', 'Results stored', ['status']),
    putSeconds: histogram(
      'noetl_result_store_put_duration_seconds',
      'Time to store a result',
      REQUEST_BUCKETS,
      ['status'],
    ),
    resolve: counter('noetl_result_store_resolve_total', 'Results looked up', ['status']),
    resolveSeconds: histogram(
      'noetl_result_store_resolve_duration_seconds',
      'Time to look a result up',
      REQUEST_BUCKETS,
      ['status'],
    ),
  }
  const others = {
    materialized: counter('noetl_events_materialized_total', 'Events taken from an event stream'),
    advanced: counter('noetl_projection_advanced_total', 'Projections brought forward on request'),
    purged: counter('noetl_cleanup_rows_purged_total', 'Rows and partitions deleted on request', ['table']),
    callbacks: counter('noetl_container_callback_total', 'Ends of containers that were told', ['state']),
    staleCallbacks: counter('noetl_container_callback_stale_total', 'Of these, told to nobody', ['state']),
    sealed: counter('noetl_credentials_sealed_total', 'Credentials given out encrypted to a worker', [
      'status',
    ]),
    rotated: counter('noetl_wallet_rotate_total', 'Envelopes that a change of the key came by', [
      'table',
      'status',
    ]),
    published: counter('noetl_event_stream_published_total', 'Events that the outside was told', [
      'event_type',
    ]),
    recorded: counter('noetl_secret_audit_writes_total', 'Looks at secrets put on record, or not', [
      'operation',
      'outcome',
      'status',
    ]),
  }
  const engine = {
    decide: histogram('noetl_decide_duration_seconds', 'Time to decide one turn', DECIDE_BUCKETS),
    appends: histogram('noetl_append_group_size', 'Appends written by one statement', GROUP_BUCKETS),
    appendSeconds: histogram(
      'noetl_append_duration_seconds',
      'Time to write a group of appends',
      REQUEST_BUCKETS,
    ),
    conflicts: counter('noetl_version_conflicts_total', 'Appends that another server was faster with'),
    expired: counter('noetl_lease_expired_total', 'Leases that ran out'),
  }
  const state = {
    depth: gauge('noetl_queue_depth', 'Commands in the queue', ['pool', 'status']),
    age: gauge('noetl_queue_oldest_seconds', 'Age of the command that waits longest', ['pool']),
    running: gauge('noetl_executions_running', 'Executions that have not ended'),
    stuck: gauge('noetl_executions_without_cause', 'Executions that nothing will move; always 0'),
    timers: gauge('noetl_timers_pending', 'Timers that are not due or not told yet'),
    outbox: gauge('noetl_outbox_pending', 'Messages for the outside that wait'),
    cached: gauge('noetl_executions_cached', 'Executions whose state is in memory'),
    cachedBytes: gauge('noetl_executions_cached_bytes', 'What these states weigh, as estimated'),
    connections: gauge('noetl_database_connections', 'Connections to PostgreSQL', ['state']),
    build: gauge('noetl_build_info', 'The running version', ['version']),
  }
  const instruments: Instruments = {
    decided: (milliseconds) => engine.decide.observe(milliseconds / 1000),
    appended: (appends, milliseconds) => {
      engine.appends.observe(appends)
      engine.appendSeconds.observe(milliseconds / 1000)
    },
    conflicted: () => engine.conflicts.inc(),
    leasesExpired: (count) => engine.expired.inc(count),
    published: (eventType) => others.published.inc({ event_type: eventTypeLabel(eventType) }),
    recorded: (operation, outcome, isWritten) => {
      if (SECRET_LOOKS.includes(operation))
        others.recorded.inc({ operation, outcome, status: isWritten ? 'ok' : 'error' })
    },
  }
  return { register, requests, ingest, writes, executes, results, others, engine, state, instruments }
}
