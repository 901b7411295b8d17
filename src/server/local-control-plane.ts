/** The control plane as the worker in the same process sees it: the same verbs as over HTTP, without the network. */
import type { CommandReport, ControlPlane } from '../contract/command.ts'
import { EVENT } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import type { ReportInput } from '../engine/input.ts'
import type { Core } from './core.ts'
import { toError } from './core.ts'
import type { Leases } from './leases.ts'

export const createLocalControlPlane = (core: Core, leases: Leases): ControlPlane => ({
  lease: (request) => leases.lease({ ...request, signal: request.signal as AbortSignal }),
  report: async (report) => {
    const { reply } = await core.tell(report.executionId, reportInput(report))
    if (reply.ok) return 'ok'
    if (reply.problem.code === 'lease_lost' || reply.problem.code === 'not_found') return 'lost'
    throw toError(reply.problem)
  },
  heartbeat: ({ workerId, leases: held }) => leases.heartbeat(workerId, held),
  release: ({ leases: held }) => leases.release(held),
})

const reportInput = (report: CommandReport): ReportInput => ({
  type: 'report',
  eventType: report.outcome === 'ok' ? EVENT.commandCompleted : EVENT.commandFailed,
  step: report.step,
  commandId: report.commandId,
  leaseToken: report.leaseToken,
  workerId: report.workerId,
  eventId: null,
  status: report.outcome === 'ok' ? 'COMPLETED' : 'FAILED',
  context: reportContext(report),
  reference: null,
  meta: { attempt: report.attempt, actionable: true, informative: true, worker_id: report.workerId },
  createdAt: null,
  durationMs: report.durationMs,
})

/** The result envelope of a report, as it is stored and as it travels. */
export const reportContext = (report: CommandReport): JsonObject => {
  const inner: Record<string, Json> = {}
  if (report.data !== undefined) inner['data'] = report.data
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
