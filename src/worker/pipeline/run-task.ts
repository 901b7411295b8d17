/**
 * One run of one task: renders its input, then its block, then calls its tool.
 *
 * 1. Never throws and never rejects: a template that fails or an unknown kind is a failure of the task, which the
 *    policy sees like any other.
 * 2. Every template is rendered exactly once per run, after the tasks before it. The input is rendered first; the
 *    block may read it by name.
 * 3. Secrets that it names are looked up first, and its credential last, when the block is complete.
 * 4. Program text that does not render stays as it is: it may hold braces that only look like a template.
 */
import type { LeasedCommand } from '../../contract/command.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { renderValue } from '../../template/render.ts'
import type { Scope } from '../../template/scope.ts'
import type { Clock } from '../clock.ts'
import type { CommandSecrets } from '../credentials/command-secrets.ts'
import { timeLimitMs } from '../duration.ts'
import { iterationInput } from '../iteration.ts'
import { renderField } from '../late-templates.ts'
import { withTimeLimit } from '../time-limit.ts'
import { failed, ToolFailure } from '../tool-failure.ts'
import { inputObject } from '../tool-input.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import type { Task } from './read-pipeline.ts'
import type { RunningContext } from './running-context.ts'

export interface TaskRunnerOptions {
  readonly command: LeasedCommand
  readonly context: RunningContext
  readonly tools: ToolRegistry
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly secrets: CommandSecrets
  readonly log: ToolCall['log']
  readonly aside: NonNullable<ToolCall['aside']>
}

/** `run` counts the runs of the pipeline so far. */
export type TaskRunner = (task: Task, attempt: number, run: number) => ToolResult | Promise<ToolResult>

const NO_LIMITS: JsonObject = {}

type Prepared = Omit<ToolCall, 'signal' | 'log' | 'aside'>

const renderCode = (code: Json, scope: Scope): Json => {
  try {
    return renderValue(code, scope)
  } catch (thrown) {
    if (thrown instanceof ToolFailure) throw thrown
    return code
  }
}

const renderConfig = (task: Task, scope: Scope): JsonObject => {
  if (task.templated.length === 0) return task.config
  const config: Record<string, Json> = { ...task.config }
  for (const field of task.templated) {
    const value = config[field] ?? null
    const isCode = field === 'code' && typeof value === 'string'
    config[field] = isCode ? renderCode(value, scope) : renderField(field, value, scope)
  }
  return config
}

export const createTaskRunner = (options: TaskRunnerOptions): TaskRunner => {
  const { command, context, tools, clock, signal, secrets, log, aside } = options
  const iteration = iterationInput(command) ?? {}
  const stepInput = Object.fromEntries(
    Object.entries(command.context.args).filter(([name]) => !Object.hasOwn(iteration, name)),
  )

  const prepare = (task: Task, run: number): Prepared => {
    const own = task.input === undefined ? undefined : renderField('input', task.input, context.scope)
    const declared = { ...stepInput, ...inputObject(own) }
    const input = { ...iteration, ...declared }
    context.useInput(declared, input)
    const config = renderConfig(task, context.scope)
    const taskContext = {
      tool_config: config,
      args: input,
      // Put together only for tools that ask: it may be large.
      get render_context() {
        return context.plain()
      },
    }
    return {
      config,
      input,
      command: { ...command, toolKind: task.kind, context: taskContext },
      callId: `${command.commandId}/${task.label}/${run}`,
    }
  }

  const call = (tool: Tool, prepared: Prepared): ToolResult | Promise<ToolResult> => {
    if (tool.instant) return tool.run({ ...prepared, signal, log, aside })
    const limitMs = timeLimitMs(prepared.config, NO_LIMITS)
    return withTimeLimit({ limitMs, signal, clock }, (inner) =>
      tool.run({ ...prepared, signal: inner, log, aside }),
    )
  }

  const start = (task: Task, tool: Tool, run: number): ToolResult | Promise<ToolResult> => {
    const prepared = prepare(task, run)
    const filled = secrets.fill(task.kind, prepared.config, signal)
    if (!(filled instanceof Promise)) return call(tool, prepared)
    return filled.then((config) => call(tool, { ...prepared, config }))
  }

  return (task, attempt, run) => {
    try {
      context.enter(task.label, attempt)
      const tool = tools.get(task.kind)
      const loading = secrets.load(task.keychain, signal)
      const result =
        loading === undefined ? start(task, tool, run) : loading.then(() => start(task, tool, run))
      return result instanceof Promise ? result.catch(failed) : result
    } catch (thrown) {
      return failed(thrown)
    }
  }
}
