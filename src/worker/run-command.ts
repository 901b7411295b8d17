/**
 * Runs one leased command: prepares the tool block, calls the tool, turns whatever happens into a result.
 *
 * 1. Never throws and never rejects: every failure is a result with outcome `error`.
 * 2. A string is rendered at most once, and only if the control plane named it in `meta.late`.
 * 3. Step input is a default: the tool's own input wins key by key.
 * 4. An instant tool answers synchronously, without timers or controllers.
 * 5. Secrets are looked up just before they are used, and hidden in everything that the command says; a command that
 *    needs some is not instant.
 * 6. A pipeline renders its own templates, task by task; it takes a slot, since its policy may wait.
 */
import type { LeasedCommand } from '../contract/command.ts'
import type { JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type { View } from '../template/scope.ts'
import type { Clock } from './clock.ts'
import { commandNames, commandScope } from './command-scope.ts'
import { timeLimitMs } from './duration.ts'
import {
  type CommandSecrets,
  createCommandSecrets,
  maskedLog,
  runMasked,
} from './credentials/command-secrets.ts'
import type { CredentialSource } from './credentials/credential-source.ts'
import { secretNeeds } from './credentials/secret-needs.ts'
import { iterationInput } from './iteration.ts'
import { type JsonPath, latePaths, renderLate } from './late-templates.ts'
import { type Log, silentLog } from './log.ts'
import { runPipeline } from './pipeline/run-pipeline.ts'
import { GRACE_MS, withTimeLimit } from './time-limit.ts'
import { configFailure, failed } from './tool-failure.ts'
import { inputObject, isArgsInput } from './tool-input.ts'
import type { Tool, ToolCall, ToolResult } from './tool.ts'
import type { ToolRegistry } from './tools/registry.ts'

/** Lets the command wait without its slot. */
export type Aside = NonNullable<ToolCall['aside']>

export interface CommandRunner {
  /** True when the command needs no slot; also for a command that can only fail at once. */
  isInstant(command: LeasedCommand): boolean
  run(command: LeasedCommand, signal: AbortSignal, aside?: Aside): ToolResult | Promise<ToolResult>
}

export interface CommandRunnerOptions {
  readonly tools: ToolRegistry
  readonly workerId: string
  readonly clock: Clock
  readonly uuid: () => string
  readonly log?: Log
  /** Where credentials are looked up; without it there are none. */
  readonly credentials?: CredentialSource
  /** Task runs after which a pipeline is taken for one that never ends. */
  readonly maxTaskRuns?: number
  /** Spreads the waits between tries; chance when not given. */
  readonly random?: () => number
  /** Live output of running tools. */
  readonly onOutput?: (command: LeasedCommand, stream: 'stdout' | 'stderr', text: string) => void
}

const PIPELINE = 'task_sequence'
const DEFAULT_TASK_RUNS = 1_000_000
/** Longer than the grace of the tool under way, whose results the pipeline still has to put together. */
const PIPELINE_GRACE_MS = GRACE_MS + 1_000

const nothing = (): void => undefined
const justWait: Aside = (waiting) => waiting
const NO_CONFIG: JsonObject = {}
const neverAborted = new AbortController().signal
const noCredentials: CredentialSource = { find: () => Promise.resolve(null), forget: nothing, clear: nothing }

const isInputPath = (path: JsonPath, kind: string): boolean =>
  path[0] === 'input' || (path[0] === 'args' && isArgsInput(kind))

interface Prepared {
  readonly config: JsonObject
  readonly input: JsonObject
}

/** Takes kind and input out of a tool block that is completely rendered. */
const separate = (toolConfig: JsonObject, stepInput: JsonObject, kind: string): Prepared => {
  const { kind: _kind, input: declared, ...config } = toolConfig
  if (!isArgsInput(kind) || config['args'] === undefined) {
    return { config, input: declared === undefined ? stepInput : { ...stepInput, ...inputObject(declared) } }
  }
  const { args, ...rest } = config
  return { config: rest, input: { ...stepInput, ...inputObject(declared ?? args) } }
}

export const createCommandRunner = (options: CommandRunnerOptions): CommandRunner => {
  const { tools, workerId, clock, uuid, onOutput } = options
  const log = options.log ?? silentLog
  const maxTaskRuns = options.maxTaskRuns ?? DEFAULT_TASK_RUNS
  const credentials = options.credentials ?? noCredentials
  const random = options.random ?? Math.random

  const prepare = (command: LeasedCommand, keychain?: View): Prepared => {
    const { tool_config: toolConfig } = command.context
    const iteration = iterationInput(command)
    const args = iteration === null ? command.context.args : { ...iteration, ...command.context.args }
    if (!isObject(toolConfig)) throw configFailure('The tool block must be a mapping')
    const late = latePaths(command.meta)
    if (late.length === 0) return separate(toolConfig, args, command.toolKind)

    // Input first: the other templates of the block may read the rendered input by name.
    const facts = {
      names: commandNames(command, workerId, keychain),
      uuid,
      now: new Date(clock.now()).toISOString(),
    }
    const ofInput = late.filter((path) => isInputPath(path, command.toolKind))
    const others = late.filter((path) => !isInputPath(path, command.toolKind))
    const withInput = renderLate(toolConfig, ofInput, commandScope({ ...facts, input: null })) as JsonObject
    const { input } = separate(withInput, args, command.toolKind)
    const rendered = renderLate(withInput, others, commandScope({ ...facts, input })) as JsonObject
    return separate(rendered, args, command.toolKind)
  }

  const outputOf = (command: LeasedCommand): ToolCall['log'] =>
    onOutput === undefined ? nothing : (stream, text) => onOutput(command, stream, text)

  const call = (tool: Tool, prepared: Omit<ToolCall, 'signal' | 'callId'>, signal: AbortSignal) => {
    const { command, config } = prepared
    const whole = { ...prepared, callId: command.commandId }
    if (tool.instant) {
      const result = tool.run({ ...whole, signal: neverAborted })
      return result instanceof Promise ? result.catch(failed) : result
    }
    const limitMs = timeLimitMs(config, command.meta)
    return withTimeLimit({ limitMs, signal, clock }, (inner) =>
      tool.run({ ...whole, takesLarge: true, signal: inner }),
    )
  }

  const runTool = (
    command: LeasedCommand,
    signal: AbortSignal,
    aside: Aside,
  ): ToolResult | Promise<ToolResult> => {
    const tool = tools.get(command.toolKind)
    const live = outputOf(command)
    const aliases = secretNeeds(command)
    if (aliases === null) return call(tool, { ...prepare(command), command, log: live, aside }, signal)
    const secrets = createCommandSecrets(credentials, command.executionId)
    return runMasked(secrets, live, async (log) => {
      await secrets.load(aliases, signal)
      const { config, input } = prepare(command, secrets.keychain)
      const filled = await secrets.fill(command.toolKind, config, signal)
      return call(tool, { config: filled, input, command, log, aside }, signal)
    })
  }

  const runTasks = (command: LeasedCommand, outer: AbortSignal, aside: Aside): Promise<ToolResult> => {
    const secrets: CommandSecrets = createCommandSecrets(credentials, command.executionId)
    const hiding = { secrets, log: maskedLog(log, secrets.masker) }
    return runMasked(secrets, outputOf(command), (onOutput) => {
      const start = (signal: AbortSignal): Promise<ToolResult> =>
        runPipeline({
          command,
          tools,
          workerId,
          clock,
          uuid,
          signal,
          onOutput,
          maxTaskRuns,
          aside,
          random,
          ...hiding,
        })
      const limitMs = timeLimitMs(NO_CONFIG, command.meta)
      if (limitMs === null) return start(outer)
      return withTimeLimit({ limitMs, signal: outer, clock, graceMs: PIPELINE_GRACE_MS }, start)
    })
  }

  const isInstant = (command: LeasedCommand): boolean => {
    const { toolKind } = command
    if (toolKind === PIPELINE) return false
    const tool = tools.find(toolKind)
    if (tool === undefined) return true
    if (!tool.instant) return false
    try {
      return secretNeeds(command) === null
    } catch {
      return true
    }
  }

  return {
    isInstant,
    run(command, signal, aside = justWait) {
      try {
        return command.toolKind === PIPELINE
          ? runTasks(command, signal, aside)
          : runTool(command, signal, aside)
      } catch (thrown) {
        return failed(thrown)
      }
    },
  }
}
