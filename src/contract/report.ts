/**
 * A worker's report as the event it becomes. The worker beside the server and the one across the network send the same.
 *
 * Variables that the command wrote travel in the data, under `_context_updates`, where every server looks for them.
 * Data that is no mapping has no room for them; they then stand beside it, as `context_updates`.
 */
import type { CommandReport } from './command.ts'
import { EVENT } from './event.ts'
import type { Json, JsonObject } from './json.ts'
import { isObject } from './json.ts'

export interface ReportEvent {
  readonly eventType: string
  readonly status: 'COMPLETED' | 'FAILED'
  /** The result envelope, as it is stored and as it travels. */
  readonly context: JsonObject
  readonly meta: JsonObject
}

export const toReportEvent = (report: CommandReport): ReportEvent => ({
  eventType: report.outcome === 'ok' ? EVENT.commandCompleted : EVENT.commandFailed,
  status: report.outcome === 'ok' ? 'COMPLETED' : 'FAILED',
  context: reportContext(report),
  meta: { attempt: report.attempt },
})

const reportContext = (report: CommandReport): JsonObject => {
  const inner: Record<string, Json> = {}
  const { data, contextUpdates } = report
  if (isObject(data) && contextUpdates) inner['data'] = { ...data, _context_updates: contextUpdates }
  else if (data !== undefined) inner['data'] = data
  if (!isObject(data) && contextUpdates) inner['context_updates'] = contextUpdates
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
