/** The control plane as the worker in the same process sees it: the same verbs as over HTTP, without the network. */
import type { CommandReport, ControlPlane } from '../contract/command.ts'
import { toReportEvent } from '../contract/report.ts'
import type { ReportInput } from '../engine/input.ts'
import type { Wallet } from '../lib/envelope.ts'
import { toProblem } from '../store/failure.ts'
import type { Core } from './core.ts'
import { toError } from './core.ts'
import { lookUpCredential } from './credential-lookup.ts'
import type { Leases } from './leases.ts'
import { needWallet } from './secret-access.ts'

/** Without a wallet it has no credentials to give. */
export const createLocalControlPlane = (core: Core, leases: Leases, wallet?: Wallet): ControlPlane => ({
  lease: (request) => leases.lease({ ...request, signal: request.signal as AbortSignal }),
  report: async (report) => {
    const { reply } = await core.tell(report.executionId, reportInput(report)).catch((error: unknown) => {
      throw toProblem(error)
    })
    if (reply.ok) return 'ok'
    if (reply.problem.code === 'lease_lost' || reply.problem.code === 'not_found') return 'lost'
    throw toError(reply.problem)
  },
  heartbeat: ({ workerId, leases: held }) => leases.heartbeat(workerId, held),
  release: ({ leases: held }) => leases.release(held),
  credential: async ({ executionId, alias }) => {
    const wanted = { identifier: alias, executionId, parentExecutionId: null }
    const found = await lookUpCredential(core.shards, needWallet(wallet), wanted).catch((error: unknown) => {
      throw toProblem(error)
    })
    return found && { name: found.name, type: found.type, data: found.data ?? null }
  },
})

const reportInput = (report: CommandReport): ReportInput => {
  const { eventType, status, context, meta } = toReportEvent(report)
  return {
    type: 'report',
    eventType,
    step: report.step,
    commandId: report.commandId,
    leaseToken: report.leaseToken,
    workerId: report.workerId,
    eventId: null,
    status,
    context,
    reference: null,
    meta: { ...meta, actionable: true, informative: true, worker_id: report.workerId },
    createdAt: null,
    durationMs: report.durationMs,
  }
}
