/**
 * Runs one leased command: prepares the tool block, calls the tool, turns whatever happens into a result.
 *
 * 1. Never throws and never rejects: every failure is a result with outcome `error`.
 * 2. A string is rendered at most once, and only if the control plane named it in `meta.late`.
 * 3. Step input is a default: the tool's own input wins key by key.
 * 4. An instant tool answers synchronously, without timers or controllers.
 */
import type { LeasedCommand } from '../contract/command.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type { Clock } from './clock.ts'
import { commandScope } from './command-scope.ts'
import { type JsonPath, latePaths, renderLate } from './late-templates.ts'
import { timeLimitMs } from './duration.ts'
import { withTimeLimit } from './time-limit.ts'
import { configFailure, failed } from './tool-failure.ts'
import type { ToolCall, ToolResult } from './tool.ts'
import type { ToolRegistry } from './tools/registry.ts'

export interface CommandRunner {
  /** True when the command needs no slot; also for a command that can only fail at once. */
  isInstant(command: LeasedCommand): boolean
  run(command: LeasedCommand, signal: AbortSignal): ToolResult | Promise<ToolResult>
}

export interface CommandRunnerOptions {
  readonly tools: ToolRegistry
  readonly workerId: string
  readonly clock: Clock
  readonly uuid: () => string
  /** Live output of running tools. */
  readonly onOutput?: (command: LeasedCommand, stream: 'stdout' | 'stderr', text: string) => void
}

/** Kinds whose `args` is an argument vector and not another spelling of `input`. */
const ARGUMENT_VECTOR_KINDS: ReadonlySet<string> = new Set(['container'])

const nothing = (): void => undefined
const neverAborted = new AbortController().signal

const isInputPath = (path: JsonPath, kind: string): boolean =>
  path[0] === 'input' || (path[0] === 'args' && !ARGUMENT_VECTOR_KINDS.has(kind))

const inputObject = (value: Json | undefined): JsonObject => {
  if (value === undefined || value === null) return {}
  if (isObject(value)) return value
  throw configFailure('The input of a tool must be a mapping of names to values')
}

interface Prepared {
  readonly config: JsonObject
  readonly input: JsonObject
}

/** Takes kind and input out of a tool block that is completely rendered. */
const separate = (toolConfig: JsonObject, stepInput: JsonObject, kind: string): Prepared => {
  const { kind: _kind, input: declared, ...config } = toolConfig
  if (ARGUMENT_VECTOR_KINDS.has(kind) || config['args'] === undefined) {
    return { config, input: declared === undefined ? stepInput : { ...stepInput, ...inputObject(declared) } }
  }
  const { args, ...rest } = config
  return { config: rest, input: { ...stepInput, ...inputObject(declared ?? args) } }
}

export const createCommandRunner = (options: CommandRunnerOptions): CommandRunner => {
  const { tools, workerId, clock, uuid, onOutput } = options

  const prepare = (command: LeasedCommand): Prepared => {
    const { tool_config: toolConfig, args } = command.context
    if (!isObject(toolConfig)) throw configFailure('The tool block must be a mapping')
    const late = latePaths(command.meta)
    if (late.length === 0) return separate(toolConfig, args, command.toolKind)

    // Input first: the other templates of the block may read the rendered input by name.
    const facts = { command, workerId, uuid, now: new Date(clock.now()).toISOString() }
    const ofInput = late.filter((path) => isInputPath(path, command.toolKind))
    const others = late.filter((path) => !isInputPath(path, command.toolKind))
    const withInput = renderLate(toolConfig, ofInput, commandScope({ ...facts, input: null })) as JsonObject
    const { input } = separate(withInput, args, command.toolKind)
    const rendered = renderLate(withInput, others, commandScope({ ...facts, input })) as JsonObject
    return separate(rendered, args, command.toolKind)
  }

  const run = (command: LeasedCommand, signal: AbortSignal): ToolResult | Promise<ToolResult> => {
    try {
      const tool = tools.get(command.toolKind)
      const { config, input } = prepare(command)
      const log: ToolCall['log'] =
        onOutput === undefined ? nothing : (stream, text) => onOutput(command, stream, text)
      if (tool.instant) {
        const result = tool.run({ config, input, command, signal: neverAborted, log })
        return result instanceof Promise ? result.catch(failed) : result
      }
      const limitMs = timeLimitMs(config, command.meta)
      return withTimeLimit({ limitMs, signal, clock }, (inner) =>
        tool.run({ config, input, command, signal: inner, log }),
      )
    } catch (thrown) {
      return failed(thrown)
    }
  }

  return { isInstant: (command) => tools.find(command.toolKind)?.instant ?? true, run }
}
