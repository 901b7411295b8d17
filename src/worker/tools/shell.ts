/**
 * Runs shell commands.
 *
 * 1. Data is `{exit_code, returncode, stdout, stderr}`, `json` when standard output is JSON, `signal` when one ended
 *    it. It is there after failures too.
 * 2. An exit code other than 0 is an error of kind `process` with code `EXIT_<n>`.
 * 3. Each stream is kept up to a limit; live, all of it is shown.
 * 4. Commands see the environment of the tools, the trace of the command and `env` of the call, and nothing else of the
 *    worker.
 * 5. Timeouts and cancellation end the whole process group; what was printed until then is kept.
 */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'

import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { shell } from '../../contract/tools/shell.ts'
import { parseJson } from '../../lib/exact-json.ts'
import { traceVariables } from '../command-trace.ts'
import { configFailure, failed } from '../tool-failure.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import { booleanField, isGiven, textField, textOf } from './coerce.ts'
import { openFetch, type OutboundFetch } from './http/outbound-fetch.ts'
import { shellProgram, shellText } from './shell/command-text.ts'
import { type ProcessEnd, runProcess } from './shell/run-process.ts'

export interface ShellToolOptions {
  /** What commands see as their environment. It should not hold the worker's own secrets. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where commands run, and where relative paths start. */
  readonly directory?: string
  /** Fetches scripts that a call has behind an address. */
  readonly fetch?: OutboundFetch
  /** Kept of each output stream. */
  readonly maxOutputBytes?: number
}

export interface ShellTool extends Tool {
  run(call: ToolCall): Promise<ToolResult>
}

const DEFAULT_OUTPUT_BYTES = 1024 * 1024
/** Linux takes 128 KB as one argument; the shell reads longer text from a pipe, which its commands do not get. */
const LONGEST_ARGUMENT = 100_000
const FROM_PIPE = 'eval "$(cat <&3)" 3<&-'

const environmentOf = (
  { config, command }: ToolCall,
  base: ShellToolOptions['env'],
): Record<string, string | undefined> => {
  const own = config['env']
  if (!isGiven(own)) return { ...base, ...traceVariables(command, {}) }
  if (!isObject(own)) throw configFailure('env must be a mapping of names to values')
  const entries = Object.entries(own).map(([name, value]): [string, string | undefined] => {
    if (name === '' || name.includes('=') || name.includes('\0')) {
      throw configFailure(`env has a name that no environment takes: ${JSON.stringify(name)}`)
    }
    // Null takes a variable of the surroundings away.
    return [name, textOf(value) ?? undefined]
  })
  return { ...base, ...traceVariables(command, own), ...Object.fromEntries(entries) }
}

const directoryOf = async (config: JsonObject, base: string): Promise<string> => {
  const directory = resolve(base, textField(config, 'cwd', 'working_dir') ?? '.')
  const found = await stat(directory).catch(() => null)
  if (found?.isDirectory() !== true)
    throw configFailure(`cwd is not a directory of this worker: ${directory}`)
  return directory
}

const parsedOutput = (end: ProcessEnd): JsonObject => {
  if (end.stdoutTruncated || end.stdout.trim() === '') return {}
  try {
    return { json: parseJson(end.stdout) as Json }
  } catch {
    return {}
  }
}

const resultOf = (end: ProcessEnd, signal: AbortSignal): ToolResult => {
  const { exitCode, signalName, stdout, stderr } = end
  const data: JsonObject = {
    exit_code: exitCode,
    returncode: exitCode,
    stdout,
    stderr,
    ...(signalName === null ? {} : { signal: signalName }),
    ...parsedOutput(end),
  }
  const output = {
    data,
    exitCode,
    ...(stdout === '' ? {} : { stdout }),
    ...(stderr === '' ? {} : { stderr }),
  }
  if (exitCode === 0 && signalName === null) return { outcome: 'ok', ...output }
  if (signal.aborted) return { ...failed(signal.reason), ...output }
  const how = signalName === null ? `exited with code ${exitCode}` : `was ended by signal ${signalName}`
  return {
    outcome: 'error',
    error: { kind: 'process', code: `EXIT_${exitCode}`, message: `Command ${how}`, retryable: false },
    ...output,
  }
}

export const createShellTool = (options: ShellToolOptions): ShellTool => {
  const { directory = process.cwd(), fetch = openFetch } = options
  const maxOutputBytes = options.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES

  const runCommand = async (call: ToolCall): Promise<ToolResult> => {
    const { config, signal } = call
    const [program, ...flags] = shellProgram(config)
    const { text, stopsAtFailure } = await shellText(config, { directory, fetch, signal })
    if (text.includes('\0')) throw configFailure('A command cannot contain a NUL character')
    const stops = stopsAtFailure ? ['-e'] : []
    const isLong = Buffer.byteLength(text) > LONGEST_ARGUMENT
    const cwd = await directoryOf(config, directory)
    signal.throwIfAborted()
    const end = await runProcess({
      program,
      args: [...flags, ...stops, '-c', isLong ? FROM_PIPE : text],
      cwd,
      env: environmentOf(call, options.env),
      stdin: textOf(config['stdin']),
      script: isLong ? text : null,
      maxOutputBytes: booleanField(config, true, 'capture') ? maxOutputBytes : 0,
      signal,
      onOutput: (stream, part) => call.log(stream, part),
    })
    return resultOf(end, signal)
  }

  return {
    kind: 'shell',
    declaration: shell,
    instant: false,
    async run(call) {
      try {
        return await runCommand(call)
      } catch (thrown) {
        return failed(call.signal.aborted ? call.signal.reason : thrown)
      }
    },
  }
}
