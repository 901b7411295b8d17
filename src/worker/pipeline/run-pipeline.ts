/**
 * Runs the tasks of a pipeline one after another, inside one command.
 *
 * 1. A position walks the list; after each run the policy of the task says where to go. Whatever it settles is the
 *    outcome of the pipeline.
 * 2. Cancellation and the command's limit of time end the pipeline between tasks, in a tool and in a wait; no policy
 *    can keep it going.
 * 3. A pipeline that never ends by itself is ended by the limit on task runs, and never holds up the process.
 * 4. The data is label to data, for success and failure alike; after a failure `_failed_task` names its task. A single
 *    tool with a policy (`meta.unwrap`) keeps its own data instead.
 * 5. A long wait for the next try leaves the slot to others.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

import type { LeasedCommand, ToolError } from '../../contract/command.ts'
import type { Clock } from '../clock.ts'
import { commandNames } from '../command-scope.ts'
import { type CommandSecrets, maskResult } from '../credentials/command-secrets.ts'
import { latePaths } from '../late-templates.ts'
import type { Log } from '../log.ts'
import { toToolError } from '../tool-failure.ts'
import type { ToolCall, ToolResult } from '../tool.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import { createPrintedOutput } from './printed-output.ts'
import { readPipeline } from './read-pipeline.ts'
import { waitUnlessAborted } from './retry-wait.ts'
import { createRunningContext, type RunningContext } from './running-context.ts'
import { createTaskRunner } from './run-task.ts'
import { createTaskSettler } from './settle-task.ts'
import { createTries } from './tries.ts'

export interface PipelineOptions {
  readonly command: LeasedCommand
  readonly tools: ToolRegistry
  readonly workerId: string
  readonly clock: Clock
  readonly uuid: () => string
  readonly signal: AbortSignal
  readonly secrets: CommandSecrets
  readonly log: Log
  readonly onOutput: ToolCall['log']
  readonly aside: NonNullable<ToolCall['aside']>
  readonly maxTaskRuns: number
  /** Spreads the waits between tries. */
  readonly random: () => number
}

/** How long tasks may keep the process to themselves. */
const TURN_MS = 10

const contextOf = ({ command, workerId, clock, uuid, secrets }: PipelineOptions): RunningContext =>
  createRunningContext({
    command,
    names: commandNames(command, workerId, secrets.keychain),
    now: () => new Date(clock.now()).toISOString(),
    uuid,
  })

/** A shorter wait keeps its slot: to get one back may take longer. */
const LONG_WAIT_MS = 5_000

const tooManyRuns = (limit: number): ToolError => ({
  kind: 'max_iterations_exceeded',
  code: 'MAX_ITERATIONS_EXCEEDED',
  message: `max_iterations_exceeded: the pipeline ran ${limit} tasks without coming to an end`,
  retryable: false,
})

export const runPipeline = async (options: PipelineOptions): Promise<ToolResult> => {
  const { command, tools, clock, signal, secrets, log, onOutput, aside, maxTaskRuns } = options
  const tasks = readPipeline(command.context.tool_config, latePaths(command.meta))
  const context = contextOf(options)
  const runTask = createTaskRunner({ command, context, tools, clock, signal, secrets, aside, log: onOutput })
  const settler = createTaskSettler(tasks, context, log, options.random)
  const printed = createPrintedOutput()
  const tries = createTries()
  let last: ToolResult = { outcome: 'ok' }
  let position = 0
  let attempt = 1
  let turnBegan = clock.elapsed()

  const end = (error: ToolError | null): ToolResult =>
    pipelineResult(
      { command, context, last, error, failedTask: tasks[position]?.label },
      { ...printed.streams(), ...tries.told() },
    )

  const patiently = (waitMs: number): Promise<void> => {
    const waiting = waitUnlessAborted(clock, waitMs, signal)
    return waitMs < LONG_WAIT_MS ? waiting : aside(waiting)
  }

  for (let run = 0; ; run += 1) {
    const task = tasks[position]
    if (task === undefined) return end(null)
    if (signal.aborted) return end(toToolError(signal.reason))
    if (run >= maxTaskRuns) return end(tooManyRuns(maxTaskRuns))

    const startedAt = clock.elapsed()
    const running = runTask(task, attempt, run)
    last = running instanceof Promise ? await running : running
    const endedAt = clock.elapsed()
    secrets.learn(last)
    // Masked before anything is cut off: half a secret would not be found any more.
    printed.add(masked(secrets, last))
    context.record(last.data ?? null)
    if (last.outcome === 'error' && signal.aborted) return end(last.error ?? toToolError(signal.reason))

    const { label, kind } = task
    const durationMs = Math.round((endedAt - startedAt) * 1000) / 1000
    const settled = { label, kind, result: last, attempt, durationMs }
    const next = settler.settle(position, settled)
    if (next.go === 'end') return end(next.error)
    if (next.go === 'again') {
      tries.add(settled, next.waitMs)
      attempt += 1
      if (next.waitMs > 0) await patiently(next.waitMs)
    } else {
      context.leave()
      attempt = 1
      position = next.position
    }
    // Also after tools that answered by a promise: it may have been settled without any I/O.
    if (endedAt - turnBegan > TURN_MS) {
      await nextTurn()
      turnBegan = clock.elapsed()
    }
  }
}

const masked = ({ masker }: CommandSecrets, { outcome, stdout, stderr }: ToolResult): ToolResult =>
  maskResult(masker, {
    outcome,
    ...(stdout === undefined ? {} : { stdout }),
    ...(stderr === undefined ? {} : { stderr }),
  })

interface End {
  readonly command: LeasedCommand
  readonly context: RunningContext
  /** The newest run of a task. */
  readonly last: ToolResult
  readonly error: ToolError | null
  readonly failedTask: string | undefined
}

const pipelineResult = (
  { command, context, last, error, failedTask }: End,
  told: Pick<ToolResult, 'stdout' | 'stderr' | 'tries'>,
): ToolResult => {
  const exports = context.exports()
  const failure = error === null || failedTask === undefined ? {} : { _failed_task: failedTask }
  const data = command.meta['unwrap'] === true ? last.data : { ...context.results(), ...failure }
  return {
    outcome: error === null ? 'ok' : 'error',
    ...(data === undefined ? {} : { data }),
    ...(error === null ? {} : { error }),
    ...(exports === null ? {} : { contextUpdates: exports }),
    ...told,
    ...(last.exitCode === undefined ? {} : { exitCode: last.exitCode }),
  }
}
