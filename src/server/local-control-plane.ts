/** The control plane as the worker in the same process sees it: the same verbs as over HTTP, without the network. */
import { ExecuteRequest } from '../contract/api.ts'
import type { CommandReport, ControlPlane } from '../contract/command.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { ProblemError } from '../contract/problem.ts'
import { toRegistration } from '../contract/presence.ts'
import { toReportEvent } from '../contract/report.ts'
import type { ReportInput } from '../engine/input.ts'
import { ResultMissing } from '../engine/reference.ts'
import type { Wallet } from '../lib/envelope.ts'
import { parseLarge } from '../lib/parse-large.ts'
import { readExecution } from '../store/executions.ts'
import { toProblem } from '../store/failure.ts'
import { deregisterRuntime } from '../store/runtimes.ts'
import type { Core } from './core.ts'
import { toError } from './core.ts'
import { lookUpCredential } from './credential-lookup.ts'
import { execute } from './execute.ts'
import { check } from './http.ts'
import { keepKeychain, keychainRecipe } from './keychain-recipe.ts'
import type { Leases } from './leases.ts'
import { outcomeOf, untilEnded } from './outcome.ts'
import { announceRuntime } from './runtimes.ts'
import { needWallet } from './secret-access.ts'
import { keepOutput } from './tool-output.ts'

/** A tool call may be repeated long after it was made; its id is unique, so its window may be, too. */
const CALL_WINDOW_SECONDS = 30 * 86_400

/** Without a wallet it has no credentials to give. */
export const createLocalControlPlane = (core: Core, leases: Leases, wallet?: Wallet): ControlPlane => ({
  lease: (request) => leases.lease({ ...request, signal: request.signal as AbortSignal }),
  report: async (given) => {
    const { report, reference } = given.large
      ? await settleLarge(core, given).catch(rethrow)
      : { report: given, reference: null }
    const { reply } = await core.tell(report.executionId, reportInput(report, reference)).catch(rethrow)
    if (reply.ok) return 'ok'
    if (reply.problem.code === 'lease_lost' || reply.problem.code === 'not_found') return 'lost'
    throw toError(reply.problem)
  },
  heartbeat: ({ workerId, leases: held }) => leases.heartbeat(workerId, held),
  release: ({ leases: held }) => leases.release(held),
  announce: async (presence) => {
    await announceRuntime(core, toRegistration(presence)).catch(rethrow)
  },
  farewell: async (workerId) => {
    await deregisterRuntime(core.shards.cluster, 'worker_pool', workerId).catch(rethrow)
  },
  output: async ({ workerId, outputs }) => {
    await keepOutput(core, workerId, outputs).catch(rethrow)
  },
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
    if (!found) return null
    const lives = found.expires_in === undefined ? {} : { expiresInSeconds: found.expires_in }
    return { name: found.name, type: found.type, data: found.data ?? null, ...lives }
  },
  keychainRecipe: ({ signal: _signal, ...request }) =>
    keychainRecipe(core, needWallet(wallet), request).catch(rethrow),
  keepKeychain: ({ entry }) => keepKeychain(core, needWallet(wallet), entry).catch(rethrow),
})

/** Every failure as the problem that a worker across the network would be told. */
const rethrow = (error: unknown): never => {
  throw toProblem(error)
}

/** Large data is stored before the report that names it; that of an iteration is a part of the log and goes into it. */
const settleLarge = async (
  core: Core,
  { large, ...report }: CommandReport,
): Promise<{ readonly report: CommandReport; readonly reference: JsonObject | null }> => {
  if (!large) return { report, reference: null }
  const { executionId, step, commandId } = report
  if (isIteration(commandId)) {
    const { buffer, byteOffset, byteLength } = large.json
    const data = (await parseLarge(Buffer.from(buffer, byteOffset, byteLength))) as Json
    return { report: { ...report, data }, reference: null }
  }
  const execution = await readExecution(core.shards.of(executionId), executionId)
  // Whoever is told of it finds out that it does not exist.
  if (!execution) return { report, reference: null }
  const { graph } = await core.playbooks.byId(execution.catalog_id)
  const { outputSelect } = graph.step(step)
  return { report, reference: await core.largeResults.storeLarge(executionId, step, large, outputSelect) }
}

const isIteration = (commandId: string): boolean => /:i\d+$/.test(commandId)

const reportInput = (report: CommandReport, reference: JsonObject | null): ReportInput => {
  const { eventType, status, context, meta } = toReportEvent(report, reference)
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
