/** Pipelines for tests: whole playbooks through the engine and this worker, or a bare list of tasks. */
import type { LeasedCommand } from '../../contract/command.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { toReportEvent } from '../../contract/report.ts'
import { reportedOf, started } from '../../engine/testing/inputs.ts'
import { aPlaybook } from '../../engine/testing/playbook.ts'
import { createSimulation, EXECUTION_ID, type Simulation } from '../../engine/testing/simulation.ts'
import { type Clock, systemClock } from '../clock.ts'
import type { Log } from '../log.ts'
import { createCommandRunner, type CommandRunner } from '../run-command.ts'
import { aCommand } from '../test-support.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import { noopTool } from '../tools/noop.ts'
import { createToolRegistry } from '../tools/registry.ts'

export interface Bench {
  readonly tools?: readonly Tool[]
  readonly clock?: Clock
  readonly log?: Log
  readonly maxTaskRuns?: number
  /** Waits are as short as they can be when not given. */
  readonly random?: () => number
}

export const ok = (data?: Json): ToolResult => ({ outcome: 'ok', ...(data === undefined ? {} : { data }) })

export const error = (message: string, more: Partial<NonNullable<ToolResult['error']>> = {}): ToolResult => ({
  outcome: 'error',
  error: { kind: 'test', code: 'TEST', message, retryable: false, ...more },
})

/** Not written as a key: an object with one would be taken for a promise. */
const THEN = 'then' as string

/** A policy rule with a condition. */
export const when = (condition: string, block: JsonObject): JsonObject => ({ when: condition, [THEN]: block })

/** A policy rule that always matches. */
export const always = (block: JsonObject): JsonObject => ({ [THEN]: block })

/** A tool of a known kind that does what the test says. */
export const toolOf = (kind: string, run: (call: ToolCall) => ToolResult | Promise<ToolResult>): Tool => ({
  kind,
  instant: false,
  run: async (call) => run(call),
})

/** Answers what it was called with. */
export const echo = toolOf('echo', ({ config, input }) => ok({ config, input }))

/** Answers one after the other, the last one for ever. Remembers the blocks it was called with. */
export const scripted = (kind: string, answers: readonly ToolResult[]) => {
  const calls: ToolCall[] = []
  const tool = toolOf(kind, (call) => {
    calls.push(call)
    return answers[Math.min(calls.length, answers.length) - 1] ?? ok()
  })
  return { tool, calls }
}

/** Every wait is over at once; `waits` has their lengths. */
export const createHastyClock = () => {
  const waits: number[] = []
  let now = 0
  const clock: Clock = {
    now: () => now,
    elapsed: () => now,
    after(delayMs, callback) {
      let isCancelled = false
      waits.push(delayMs)
      queueMicrotask(() => {
        if (isCancelled) return
        now += delayMs
        callback()
      })
      return () => void (isCancelled = true)
    },
  }
  return { clock, waits }
}

/** Collects what is logged as a warning. */
export const createWarnings = () => {
  const warnings: object[] = []
  const nothing = (): void => undefined
  const log: Log = {
    debug: nothing,
    info: nothing,
    error: nothing,
    warn: (fields) => void warnings.push(fields),
  }
  return { log, warnings }
}

export const runnerOf = ({ tools = [], ...bench }: Bench = {}): CommandRunner =>
  createCommandRunner({
    tools: createToolRegistry([...(tools.some(({ kind }) => kind === 'noop') ? [] : [noopTool]), ...tools]),
    workerId: 'worker-1',
    clock: systemClock,
    uuid: () => 'a-uuid',
    random: () => 0,
    ...bench,
  })

export const aPipeline = (tasks: Json, over: Partial<LeasedCommand> & { variables?: JsonObject } = {}) => {
  const { variables = {}, ...rest } = over
  return aCommand({
    toolKind: 'task_sequence',
    context: { tool_config: tasks, args: {}, render_context: variables },
    ...rest,
  })
}

const neverAborted = new AbortController().signal

export const runTasks = async (
  tasks: Json,
  bench: Bench & { over?: Parameters<typeof aPipeline>[1]; signal?: AbortSignal } = {},
): Promise<ToolResult> => {
  const { over, signal, ...rest } = bench
  return runnerOf(rest).run(aPipeline(tasks, over), signal ?? neverAborted)
}

/** Starts a playbook and lets this worker run its commands until none is open. */
export const runPlaybook = async (workflow: string, bench: Bench = {}, head = ''): Promise<Simulation> => {
  const simulation = createSimulation(aPlaybook(workflow, head))
  const runner = runnerOf(bench)
  simulation.tell(started())
  for (let next = simulation.open()[0]; next !== undefined; next = simulation.open()[0]) {
    const leased = leasedCommand(simulation, next)
    const result = await runner.run(leased, neverAborted)
    const { eventType, status, context } = toReportEvent({
      executionId: EXECUTION_ID,
      eventId: leased.eventId,
      commandId: leased.commandId,
      step: leased.step,
      workerId: 'worker-1',
      leaseToken: leased.leaseToken,
      attempt: 1,
      durationMs: 1,
      ...result,
    })
    simulation.tell(reportedOf(next, eventType, { status, context }))
  }
  return simulation
}

const leasedCommand = (simulation: Simulation, name: string): LeasedCommand => {
  const { eventId, step, commandId, toolKind } = simulation.command(name)
  const issued = simulation.events.find((event) => event.eventId === eventId)
  if (issued === undefined) throw new Error(`command ${commandId} was never issued`)
  return {
    executionId: EXECUTION_ID,
    eventId,
    commandId,
    catalogId: '7',
    step,
    toolKind,
    attempt: 1,
    leaseToken: 't',
    // As it comes from the wire: nothing in it is shared with the playbook.
    context: structuredClone(issued.context) as unknown as LeasedCommand['context'],
    meta: structuredClone(issued.meta),
  }
}
