/** The control plane as the worker in the same process sees it: the same verbs as over HTTP, without the network. */
import { ExecuteRequest } from '../contract/api.ts'
import type { CommandReport, ControlPlane } from '../contract/command.ts'
import { ProblemError } from '../contract/problem.ts'
import { toReportEvent } from '../contract/report.ts'
import type { ReportInput } from '../engine/input.ts'
import { ResultMissing } from '../engine/reference.ts'
import type { Wallet } from '../lib/envelope.ts'
import { toProblem } from '../store/failure.ts'
import type { Core } from './core.ts'
import { toError } from './core.ts'
import { lookUpCredential } from './credential-lookup.ts'
import { execute } from './execute.ts'
import { check } from './http.ts'
import type { Leases } from './leases.ts'
import { outcomeOf, untilEnded } from './outcome.ts'
import { needWallet } from './secret-access.ts'

/** A tool call may be repeated long after it was made; its id is unique, so its window may be, too. */
const CALL_WINDOW_SECONDS = 30 * 86_400

/** Without a wallet it has no credentials to give. */
export const createLocalControlPlane = (core: Core, leases: Leases, wallet?: Wallet): ControlPlane => ({
  lease: (request) => leases.lease({ ...request, signal: request.signal as AbortSignal }),
  report: async (report) => {
    const { reply } = await core.tell(report.executionId, reportInput(report)).catch(rethrow)
    if (reply.ok) return 'ok'
    if (reply.problem.code === 'lease_lost' || reply.problem.code === 'not_found') return 'lost'
    throw toError(reply.problem)
  },
  heartbeat: ({ workerId, leases: held }) => leases.heartbeat(workerId, held),
  release: ({ leases: held }) => leases.release(held),
  startPlaybook: async ({ callId, parentExecutionId, playbook, payload }) => {
    const dedup = { key: callId, window_secs: CALL_WINDOW_SECONDS }
    const request = check(ExecuteRequest, {
      ...playbook,
      payload,
      parent_execution_id: parentExecutionId,
      dedup,
    })
    return { executionId: (await execute(core, request).catch(rethrow)).execution_id }
  },
  awaitPlaybook: async ({ executionId, step, waitMs, signal }) => {
    await untilEnded(core, executionId, waitMs, signal as AbortSignal).catch(rethrow)
    const outcome = await outcomeOf(core, executionId, step).catch(rethrow)
    if (!outcome) throw new ProblemError('not_found', `Execution not found: ${executionId}`)
    const { status, ...rest } = outcome
    return status === 'RUNNING' ? null : { status, ...rest }
  },
  result: async ({ ref }) => {
    try {
      return { data: core.largeResults.resolve(ref) ?? (await core.largeResults.fetch(ref)) }
    } catch (error) {
      if (error instanceof ResultMissing) return null
      throw error
    }
  },
  credential: async ({ executionId, alias }) => {
    const wanted = { identifier: alias, executionId, parentExecutionId: null }
    const found = await lookUpCredential(core.shards, needWallet(wallet), wanted).catch(rethrow)
    return found && { name: found.name, type: found.type, data: found.data ?? null }
  },
})

/** Every failure as the problem that a worker across the network would be told. */
const rethrow = (error: unknown): never => {
  throw toProblem(error)
}

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
