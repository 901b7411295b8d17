/**
 * A worker's report as the event it becomes. The worker beside the server and the one across the network send the same.
 *
 * Variables that the command wrote travel beside its data, as `context_updates`: they are no part of the result. Data that was stored
 * before is named by its reference.
 */
import type { CommandReport } from './command.ts'
import { EVENT } from './event.ts'
import type { Json, JsonObject } from './json.ts'

export interface ReportEvent {
  readonly eventType: string
  readonly status: 'COMPLETED' | 'FAILED' | 'PENDING'
  /** The result envelope, as it is stored and as it travels. */
  readonly context: JsonObject
  readonly meta: JsonObject
}

/** `reference` names the data when it was stored before. */
export const toReportEvent = (report: CommandReport, reference: JsonObject | null = null): ReportEvent =>
  report.pending ? pendingEvent(report, report.pending) : endEvent(report, reference)

const pendingEvent = (
  report: CommandReport,
  { timeoutMs }: { readonly timeoutMs: number | null },
): ReportEvent => ({
  eventType: EVENT.commandCompleted,
  status: 'PENDING',
  context: {
    command_id: report.commandId,
    status: 'pending',
    pending_callback: true,
    ...(timeoutMs === null ? {} : { timeout_ms: timeoutMs }),
  },
  meta: { attempt: report.attempt },
})

const endEvent = (report: CommandReport, reference: JsonObject | null): ReportEvent => ({
  eventType: report.outcome === 'ok' ? EVENT.commandCompleted : EVENT.commandFailed,
  status: report.outcome === 'ok' ? 'COMPLETED' : 'FAILED',
  context: reportContext(report, reference),
  meta: { attempt: report.attempt, ...triesOf(report) },
})

/** As plain data; a result that came at the first try has nothing to tell. */
const triesOf = ({ tries }: CommandReport): JsonObject =>
  tries === undefined
    ? {}
    : {
        retries: tries.count,
        tries: tries.runs.map(({ error, ...run }) => ({ ...run, ...(error ? { error: { ...error } } : {}) })),
      }

const reportContext = (report: CommandReport, reference: JsonObject | null): JsonObject => {
  const inner: Record<string, Json> = {}
  const { contextUpdates } = report
  const data = reference === null ? report.data : { _ref: reference['ref'] ?? null }
  if (data !== undefined) inner['data'] = data
  if (contextUpdates) inner['context_updates'] = contextUpdates
  if (report.error) inner['error'] = { ...report.error }
  if (report.stdout) inner['stdout'] = report.stdout
  if (report.stderr) inner['stderr'] = report.stderr
  if (report.exitCode !== undefined) inner['exit_code'] = report.exitCode
  return {
    command_id: report.commandId,
    call_index: 0,
    result: {
      status: report.outcome === 'ok' ? 'success' : 'error',
      context: inner,
      ...(reference === null ? {} : { reference }),
    },
    ...(report.error ? { error: { ...report.error } } : {}),
  }
}
