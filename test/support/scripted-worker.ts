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
  /** Completes the command with data, or fails it with the message of an error. */
  answer(command: LeasedCommand, answer: Json | Error): Promise<'ok' | 'lost'>
  heartbeat(command: LeasedCommand): Promise<string | undefined>
  release(command: LeasedCommand): Promise<void>
  /** Completes everything that can be leased until there is nothing more; answers how many. */
  drain(data?: Json): Promise<number>
}

type Outcome = Pick<CommandReport, 'outcome' | 'data' | 'error' | 'pending'>

/** What a worker reports of a command that it holds. */
export const reportOf = (command: LeasedCommand, workerId: string, outcome: Outcome): CommandReport => ({
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

export const createScriptedWorker = (
  { core, leases }: TestServer,
  workerId: string,
  pool = 'shared',
): ScriptedWorker => {
  const controlPlane: ControlPlane = createLocalControlPlane(core, leases)
  const { signal } = new AbortController()
  const report = (command: LeasedCommand, outcome: Outcome): Promise<'ok' | 'lost'> =>
    controlPlane.report(reportOf(command, workerId, outcome))
  const lease: ScriptedWorker['lease'] = (max = 1) =>
    controlPlane.lease({ workerId, pool, max, waitMs: 0, signal })
  const complete: ScriptedWorker['complete'] = (command, data = { ok: true }) =>
    report(command, { outcome: 'ok', data })
  const fail: ScriptedWorker['fail'] = (command, message) =>
    report(command, {
      outcome: 'error',
      error: { kind: 'runtime', code: 'BROKEN', message, retryable: false },
    })
  return {
    workerId,
    lease,
    complete,
    fail,
    answer: (command, answer) =>
      answer instanceof Error ? fail(command, answer.message) : complete(command, answer),
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
