/**
 * Runs a whole script: Python in the interpreters of the python tool, anything for a shell with the shell tool.
 *
 * 1. The script is written in place (`content`), in a file, or behind an http address. Its language is `type`, else the
 *    ending of its address, else its first line, else Python.
 * 2. It runs on this worker. What a cluster would need (image, namespace, resources, …) is accepted and has no effect,
 *    unless `job.run: container` asks for the image, which a container tool must then run.
 * 3. Data is `{status, exit_code, succeeded, failed, output, stdout, stderr, execution_time, job_name, namespace, pod_name}`, and
 *    `result` of a Python script that sets it. It is there after failures too.
 * 4. `input` of a Python script are its variables, of a shell script its environment.
 */
import { hostname } from 'node:os'

import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { script } from '../../contract/tools/script.ts'
import { durationMs } from '../duration.ts'
import { timeoutFailure } from '../time-limit.ts'
import { configFailure, failed } from '../tool-failure.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import { textEntries, textField, textOf } from './coerce.ts'
import { openFetch, type OutboundFetch } from './http/outbound-fetch.ts'
import { type LoadedScript, loadScript } from './script/load-script.ts'
import { toolUnavailable } from './tool-unavailable.ts'

export interface ScriptToolOptions {
  readonly python: Tool
  readonly shell: Tool
  /** Runs images when it is asked for; null where no tool can. */
  readonly container: Tool | null
  /** Relative paths start here. */
  readonly directory?: string
  /** Fetches scripts that a call has behind an address. */
  readonly fetch?: OutboundFetch
}

const DEFAULT_IMAGE = 'python:3.11-slim'

/** Variables of a job, as a list of `{name, value}` or as a mapping. */
const jobEnvironment = (env: Json | undefined): Record<string, string> => {
  if (!Array.isArray(env)) return Object.fromEntries(textEntries(env, 'job.env'))
  const entries = (env as readonly Json[]).map((entry): [string, string] => {
    const name = isObject(entry) ? textField(entry, 'name') : null
    if (name === null) throw configFailure('job.env must be a list of {name, value}')
    return [name, textOf((entry as JsonObject)['value']) ?? '']
  })
  return Object.fromEntries(entries)
}

const jobOf = (config: JsonObject): JsonObject =>
  isObject(config['job'] ?? null) ? (config['job'] as JsonObject) : {}

/** The call of the tool that runs the script. */
const innerCall = (
  call: ToolCall,
  { text, language }: LoadedScript,
  env: Record<string, string>,
  signal: AbortSignal,
): ToolCall => {
  const cwd = textField(call.config, 'cwd')
  const place = cwd === null ? {} : { cwd }
  if (language === 'python') {
    return { ...call, signal, config: { code: text, env, ...place } }
  }
  const values = Object.fromEntries(textEntries(call.input, 'input'))
  return {
    ...call,
    signal,
    input: {},
    config: { command: text, shell: language, env: { ...values, ...env }, ...place },
  }
}

const containerCall = (
  call: ToolCall,
  { text, language }: LoadedScript,
  env: Record<string, string>,
  signal: AbortSignal,
): ToolCall => {
  const { run: _run, env: _env, image, ...job } = jobOf(call.config)
  const values = Object.fromEntries(textEntries(call.input, 'input'))
  const variables = Object.entries({ ...values, ...env }).map(([name, value]) => ({ name, value }))
  const command = language === 'python' ? ['python', '-c', text] : [language, '-c', text]
  return {
    ...call,
    signal,
    input: {},
    config: { ...job, image: textOf(image) ?? DEFAULT_IMAGE, command, env: variables },
  }
}

const dataOf = (result: ToolResult, call: ToolCall, language: string, elapsedMs: number): JsonObject => {
  const isOk = result.outcome === 'ok'
  const inner = isObject(result.data ?? null) ? (result.data as JsonObject) : {}
  const stdout = result.stdout ?? textOf(inner['stdout']) ?? ''
  const hasResult = language === 'python' && isOk && !('stdout' in inner && 'stderr' in inner)
  return {
    status: isOk ? 'completed' : 'failed',
    exit_code: result.exitCode ?? (isOk ? 0 : 1),
    succeeded: isOk ? 1 : 0,
    failed: isOk ? 0 : 1,
    output: stdout,
    stdout,
    stderr: result.stderr ?? textOf(inner['stderr']) ?? '',
    execution_time: Math.round(elapsedMs) / 1000,
    job_name: `script-${call.callId}`,
    namespace: textField(jobOf(call.config), 'namespace') ?? 'local',
    pod_name: hostname(),
    ...(hasResult ? { result: result.data ?? null } : {}),
  }
}

export const createScriptTool = (options: ScriptToolOptions): Tool => {
  const { directory = process.cwd(), fetch = openFetch } = options

  const run = async (call: ToolCall, signal: AbortSignal): Promise<ToolResult> => {
    const loaded = await loadScript(call.config, { directory, fetch, signal })
    const job = jobOf(call.config)
    const env = {
      ...jobEnvironment(job['env']),
      ...Object.fromEntries(textEntries(call.config['env'], 'env')),
    }
    const startedAt = performance.now()
    const finish = async (tool: Tool, inner: ToolCall): Promise<ToolResult> => {
      const result = await tool.run(inner)
      return { ...result, data: dataOf(result, call, loaded.language, performance.now() - startedAt) }
    }
    if (textField(job, 'run') === 'container') {
      if (options.container === null) {
        throw toolUnavailable(
          'job.run: container needs a worker with the container tool; leave it out to run the script on the worker itself',
        )
      }
      return finish(options.container, containerCall(call, loaded, env, signal))
    }
    const tool = loaded.language === 'python' ? options.python : options.shell
    return finish(tool, innerCall(call, loaded, env, signal))
  }

  return {
    kind: 'script',
    declaration: script,
    instant: false,
    async run(call) {
      const ended = new AbortController()
      const signal = AbortSignal.any([call.signal, ended.signal])
      let timer: NodeJS.Timeout | undefined
      try {
        const limitMs = durationMs(jobOf(call.config)['timeout'], 'job.timeout')
        if (limitMs !== null) timer = setTimeout(() => ended.abort(timeoutFailure(limitMs)), limitMs)
        return await run(call, signal)
      } catch (thrown) {
        return failed(signal.aborted ? signal.reason : thrown)
      } finally {
        clearTimeout(timer)
      }
    },
  }
}
