/**
 * The worker: takes leased commands, runs them in slots, reports what came of them.
 *
 * 1. At most `slots` commands run at once; instant ones are not counted and run on arrival, up to their report, without
 *    waiting for anything.
 * 2. A slot is free before the report of its command is sent: the control plane may answer with the next command.
 * 3. A held command is heartbeaten until its report is answered. When its lease is lost or it is cancelled it is aborted
 *    and nothing is reported.
 * 4. While reports cannot be delivered no new work is asked for.
 * 5. A worker that the control plane does not let work any more asks for nothing more, aborts what it holds, because
 *    others will get it, and says so by `onDismissed`. An outage is something else: it is waited for.
 * 6. `stop` starts nothing new, gives running commands the grace, then aborts them, and hands back every lease that has
 *    no report.
 */
import { randomUUID } from 'node:crypto'

import type { CommandReport, ControlPlane, LeasedCommand } from '../contract/command.ts'
import type { ProblemError } from '../contract/problem.ts'
import { type Clock, within } from './clock.ts'
import { createCredentialSource } from './credentials/credential-source.ts'
import { createSecretProviders } from './credentials/providers/providers.ts'
import { createRecipeResolver } from './credentials/recipe/resolve-recipe.ts'
import { NO_SECRET_SETTINGS, type SecretSettings } from './credentials/secret-settings.ts'
import { isDismissal } from './dismissal.ts'
import { createHeartbeat } from './heartbeat.ts'
import { commandFacts, heldKey, type HeldCommand, holdCommand } from './held-command.ts'
import { createLeaseLoop } from './lease-loop.ts'
import type { Log } from './log.ts'
import { createOutputSender } from './output-sender.ts'
import { createRelease } from './release.ts'
import { createReporter } from './reporter.ts'
import { createCommandRunner } from './run-command.ts'
import { createSlots } from './slots.ts'
import { toolCapability } from '../engine/requirements.ts'
import { ToolFailure } from './tool-failure.ts'
import type { ToolResult } from './tool.ts'
import type { ToolRegistry } from './tools/registry.ts'

export interface WorkerOptions {
  readonly controlPlane: ControlPlane
  readonly tools: ToolRegistry
  readonly workerId: string
  readonly pool: string
  /** What this worker can do besides having its tools, such as `gpu`. */
  readonly capabilities?: readonly string[]
  readonly slots: number
  readonly log: Log
  readonly clock: Clock
  /** How long a lease lasts without a heartbeat; a minute when not given. */
  readonly leaseMs?: () => number
  /** Task runs after which a pipeline is taken for one that never ends; a million when not given. */
  readonly maxTaskRuns?: number
  /** Where this worker may look for secrets besides the control plane; nowhere when not given. */
  readonly secrets?: SecretSettings
  /** Live output of running tools. */
  readonly onOutput?: (command: LeasedCommand, stream: 'stdout' | 'stderr', text: string) => void
  /** Whether heartbeats wait at the control plane, so that a cancel is heard when it happens; for one across the network. */
  readonly heartbeatsWait?: boolean
  /** Called once, with what was aborted. Without it a refusal is taken for something that passes. */
  readonly onDismissed?: (problem: ProblemError, aborted: readonly LeasedCommand[]) => void
}

export interface Worker {
  /** Begins to lease work. */
  start(): void
  /** Takes commands that the control plane in the same process has already leased to this worker. */
  accept(commands: readonly LeasedCommand[]): void
  freeSlots(): number
  /** Whether an error says that this worker may not work any more; then it is dismissed. */
  isDismissedBy(error: unknown): boolean
  /** Says that held commands may have been cancelled: they are asked about at once. */
  checkHeld(): void
  stop(options: { readonly graceMs: number }): Promise<void>
  /** Resolves when nothing is held any more. */
  idle(): Promise<void>
}

/** How long stop waits for aborted tools to die and for leases to be handed back. */
const ABORT_GRACE_MS = 7_000

const neverAborted = new AbortController().signal

const abortReason = (code: string, message: string): ToolFailure =>
  new ToolFailure({ kind: 'aborted', code, message, retryable: true })

const reportOf = (
  command: LeasedCommand,
  workerId: string,
  result: ToolResult,
  durationMs: number,
): CommandReport => ({
  executionId: command.executionId,
  eventId: command.eventId,
  commandId: command.commandId,
  step: command.step,
  workerId,
  leaseToken: command.leaseToken,
  attempt: command.attempt,
  durationMs,
  ...result,
})

/** Everything that work may ask of a worker. */
export const workerCapabilities = (
  tools: ToolRegistry,
  others: readonly string[] = [],
): readonly string[] => [...tools.kinds.map(toolCapability), ...others]

export const createWorker = (options: WorkerOptions): Worker => {
  const { controlPlane, workerId, pool, log, clock } = options
  const providers = createSecretProviders(options.secrets ?? NO_SECRET_SETTINGS)
  const resolve = createRecipeResolver({ providers, now: () => clock.now() })
  const credentials = createCredentialSource({ controlPlane, clock, resolve, log })
  const output = createOutputSender({ controlPlane, workerId, clock, log })
  const runner = createCommandRunner({
    ...options,
    credentials,
    uuid: randomUUID,
    onOutput(command, stream, text) {
      output.write(command, stream, text)
      options.onOutput?.(command, stream, text)
    },
  })
  const held = new Map<string, HeldCommand>()
  let started = false
  let stopping = false
  let dismissed = false
  let idleWaiters: (() => void)[] = []

  const forget = (entry: HeldCommand): void => {
    if (held.get(entry.key) === entry) held.delete(entry.key)
    if (held.size === 0 && idleWaiters.length > 0) {
      for (const wake of idleWaiters.splice(0)) wake()
    }
    if (started) leases.kick()
  }

  const isFinal = (error: unknown): boolean => {
    if (!options.onDismissed || !isDismissal(error)) return false
    if (dismissed) return true
    dismissed = true
    const aborted = [...held.values()].filter((entry) => !entry.abandoned)
    void leases.stop()
    heartbeat.stop()
    output.giveUp()
    for (const entry of aborted) abandon(entry, abortReason('DISMISSED', error.message))
    reporter.wake()
    options.onDismissed(
      error,
      aborted.map((entry) => entry.command),
    )
    return true
  }

  const reporter = createReporter({ controlPlane, clock, log, onOver: forget, isFinal })

  const slots = createSlots({
    size: options.slots,
    run(entry) {
      entry.startedAt = clock.elapsed()
      return runner.run(entry.command, entry.controller?.signal ?? neverAborted, (waiting) => {
        const waited = slots.aside(entry, waiting)
        // There is room for others now.
        if (started) leases.kick()
        return waited
      })
    },
    leave(entry, result) {
      const durationMs = Math.round((clock.elapsed() - entry.startedAt) * 1000) / 1000
      const report = reportOf(entry.command, workerId, result, durationMs)
      const printed = output.finish(entry.command)
      if (printed === undefined) reporter.deliver(entry, report)
      else void printed.then(() => reporter.deliver(entry, report))
    },
  })
  const freeSlots = (): number => (stopping || dismissed ? 0 : slots.free())

  const abandon = (entry: HeldCommand, reason: ToolFailure): void => {
    entry.abandoned = true
    if (slots.remove(entry)) forget(entry)
    else entry.controller?.abort(reason)
  }

  const heartbeat = createHeartbeat({
    controlPlane,
    workerId,
    clock,
    log,
    held,
    leaseMs: options.leaseMs,
    waits: options.heartbeatsWait,
    isFinal,
    onGone(entry, status) {
      log.warn({ ...commandFacts(entry.command), status }, 'command aborted')
      abandon(entry, abortReason(status.toUpperCase(), `The command was ${status}`))
      reporter.wake()
    },
  })

  const hold = (command: LeasedCommand): HeldCommand | null => {
    const known = held.get(heldKey(command))
    if (known !== undefined) {
      if (known.command.leaseToken === command.leaseToken) return null
      // A new lease of the same command: the old one must have been lost.
      abandon(known, abortReason('LOST', 'The command was leased anew'))
    }
    const entry = holdCommand(command, runner.isInstant(command), clock.elapsed())
    held.set(entry.key, entry)
    return entry
  }

  const release = createRelease({ controlPlane, workerId, log })

  const accept = (commands: readonly LeasedCommand[]): void => {
    if (stopping || dismissed) {
      release.handBack(commands)
      return
    }
    const entries = commands.map(hold).filter((entry) => entry !== null)
    heartbeat.ensure()
    slots.push(entries)
  }

  const leases = createLeaseLoop({
    controlPlane,
    workerId,
    pool,
    capabilities: workerCapabilities(options.tools, options.capabilities),
    clock,
    log,
    room: () => (reporter.failing() > 0 ? 0 : freeSlots()),
    take: accept,
    isFinal,
  })

  const idle = (): Promise<void> =>
    held.size === 0 ? Promise.resolve() : new Promise((resolve) => void idleWaiters.push(resolve))

  const stop = async ({ graceMs }: { readonly graceMs: number }): Promise<void> => {
    stopping = true
    const unstarted = slots.clear()
    for (const entry of unstarted) forget(entry)
    release.handBack(unstarted.map((entry) => entry.command))
    // Nobody waits for what was cancelled meanwhile.
    heartbeat.now()
    await within(clock, graceMs, Promise.all([leases.stop(), idle()]))

    const aborted = [...held.values()].filter((entry) => !entry.abandoned)
    for (const entry of aborted) abandon(entry, abortReason('WORKER_SHUTDOWN', 'The worker is shutting down'))
    output.giveUp()
    reporter.wake()
    await within(clock, ABORT_GRACE_MS, idle())
    // Only now, with the tools dead: somebody else may start the same work the moment it is handed back.
    release.handBack(aborted.map((entry) => entry.command))
    await within(clock, ABORT_GRACE_MS, release.settled())
    heartbeat.stop()
    credentials.clear()
  }

  return {
    start() {
      started = true
      leases.kick()
    },
    accept,
    freeSlots,
    isDismissedBy: isFinal,
    checkHeld: () => heartbeat.now(),
    stop,
    idle,
  }
}
