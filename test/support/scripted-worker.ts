/**
 * A worker that does what a test tells it, through the same port as a real one: it runs nothing, it only answers.
 */
import type { CommandReport, ControlPlane, LeasedCommand } from '../../src/contract/command.ts'
import type { Json } from '../../src/contract/json.ts'
import { createLocalControlPlane } from '../../src/server/local-control-plane.ts'
import type { TestServer } from './server.ts'

export interface ScriptedWorker {
  readonly workerId: string
  /** Leases up to `max` commands without waiting for them. */
  lease(max?: number): Promise<readonly LeasedCommand[]>
  complete(command: LeasedCommand, data?: Json): Promise<'ok' | 'lost'>
  fail(command: LeasedCommand, message: string): Promise<'ok' | 'lost'>
  heartbeat(command: LeasedCommand): Promise<string | undefined>
  release(command: LeasedCommand): Promise<void>
  /** Completes everything that can be leased until there is nothing more; answers how many. */
  drain(data?: Json): Promise<number>
}

export const createScriptedWorker = (
  { core, leases }: TestServer,
  workerId: string,
  pool = 'shared',
): ScriptedWorker => {
  const controlPlane: ControlPlane = createLocalControlPlane(core, leases)
  const { signal } = new AbortController()
  const report = (
    command: LeasedCommand,
    outcome: Pick<CommandReport, 'outcome' | 'data' | 'error'>,
  ): Promise<'ok' | 'lost'> =>
    controlPlane.report({
      executionId: command.executionId,
      eventId: command.eventId,
      commandId: command.commandId,
      step: command.step,
      workerId,
      leaseToken: command.leaseToken,
      attempt: command.attempt,
      durationMs: 1,
      ...outcome,
    })
  const lease: ScriptedWorker['lease'] = (max = 1) =>
    controlPlane.lease({ workerId, pool, max, waitMs: 0, signal })
  const complete: ScriptedWorker['complete'] = (command, data = { ok: true }) =>
    report(command, { outcome: 'ok', data })
  return {
    workerId,
    lease,
    complete,
    fail: (command, message) =>
      report(command, {
        outcome: 'error',
        error: { kind: 'runtime', code: 'BROKEN', message, retryable: false },
      }),
    heartbeat: async (command) => (await controlPlane.heartbeat({ workerId, leases: [command] }))[0],
    release: (command) => controlPlane.release({ workerId, leases: [command] }),
    drain: async (data) => {
      let done = 0
      for (;;) {
        const commands = await lease(100)
        if (commands.length === 0) return done
        await Promise.all(commands.map((command) => complete(command, data)))
        done += commands.length
      }
    },
  }
}
