/**
 * A worker's report as the event it becomes. The worker beside the server and the one across the network send the same.
 *
 * Variables that the command wrote travel beside its data, as `context_updates`: they are no part of the result.
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

export const toReportEvent = (report: CommandReport): ReportEvent =>
  report.pending ? pendingEvent(report, report.pending) : endEvent(report)

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

const endEvent = (report: CommandReport): ReportEvent => ({
  eventType: report.outcome === 'ok' ? EVENT.commandCompleted : EVENT.commandFailed,
  status: report.outcome === 'ok' ? 'COMPLETED' : 'FAILED',
  context: reportContext(report),
  meta: { attempt: report.attempt },
})

const reportContext = (report: CommandReport): JsonObject => {
  const inner: Record<string, Json> = {}
  const { data, contextUpdates } = report
  if (data !== undefined) inner['data'] = data
  if (contextUpdates) inner['context_updates'] = contextUpdates
  if (report.error) inner['error'] = { ...report.error }
  if (report.stdout) inner['stdout'] = report.stdout
  if (report.stderr) inner['stderr'] = report.stderr
  if (report.exitCode !== undefined) inner['exit_code'] = report.exitCode
  return {
    command_id: report.commandId,
    call_index: 0,
    result: { status: report.outcome === 'ok' ? 'success' : 'error', context: inner },
    ...(report.error ? { error: { ...report.error } } : {}),
  }
}
