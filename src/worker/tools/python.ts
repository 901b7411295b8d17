/**
 * Runs Python code in warm interpreters.
 *
 * 1. Every call has its own process: no state of one call is visible to another, and none outlives its call.
 * 2. Printing is free: the result travels on its own pipe. What was printed comes with the result, up to 256 KB a stream.
 * 3. A call without a result answers what it printed, as `{stdout, stderr}`; so does one that failed.
 * 4. Timeouts and cancellation kill the whole process group of the call.
 * 5. A call that names packages runs in an environment that has them, made before the first such call.
 * 6. A large result is handed on as the bytes that came, where the caller takes them; input and results of any size are written and read
 *    without holding up other commands.
 */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'

import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { LARGE_BYTES } from '../../contract/large-data.ts'
import { python as pythonDeclaration } from '../../contract/tools/python.ts'
import { parseLarge } from '../../lib/parse-large.ts'
import { configFailure, failed, type ToolFailure } from '../tool-failure.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import { createEnvironments } from './python/environments.ts'
import { startInterpreter } from './python/interpreter.ts'
import { createInterpreterPool, type InterpreterPool } from './python/interpreter-pool.ts'
import { packagesOf } from './python/libraries.ts'
import type { CallEnd } from './python/python-call.ts'
import { classifyPythonFailure, endedWithoutAnswer, type PythonFailure } from './python/python-error.ts'
import { encodeRequest } from './python/request.ts'
import { openFetch, type OutboundFetch } from './http/outbound-fetch.ts'
import { loadSource } from './python/source.ts'

export interface PythonToolOptions {
  /** The program, by path or by name on PATH. */
  readonly python?: string
  /** What calls see as their environment. It should not hold the worker's own secrets. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Relative script paths start here. */
  readonly directory?: string
  /** Fetches scripts that a call has behind an address. */
  readonly fetch?: OutboundFetch
  /** Interpreters, and so calls, at once. */
  readonly maxInterpreters?: number
  readonly callsPerInterpreter?: number
  readonly maxResultBytes?: number
  /** Address space of a call; null for no limit. `memory_mb` of the tool block can only lower it. */
  readonly memoryBytes?: number | null
  /** Where environments with packages are kept; without it `deps.packages` is refused. */
  readonly environmentsDirectory?: string
}

export interface PythonTool extends Tool {
  run(call: ToolCall): Promise<ToolResult>
  /** Interpreters alive now. */
  interpreterCount(): number
  close(): Promise<void>
}

const DEFAULT_CALLS = 5_000
const DEFAULT_RESULT_BYTES = 64 * 1024 * 1024
/** How an answer with a result begins; the result and a brace follow. */
const RESULT_HEAD = Buffer.from('{"ok":true,"found":true,"data":')

/** The JSON of the result in an answer; null when there is none. */
const resultIn = (answer: Buffer): Buffer | null =>
  answer.subarray(0, RESULT_HEAD.length).equals(RESULT_HEAD)
    ? answer.subarray(RESULT_HEAD.length, answer.length - 1)
    : null

const answerToResult = async (
  end: CallEnd,
  maxResultBytes: number,
  takesLarge: boolean,
): Promise<ToolResult> => {
  const printed = { stdout: end.stdout, stderr: end.stderr }
  const output = {
    ...(end.stdout === '' ? {} : { stdout: end.stdout }),
    ...(end.stderr === '' ? {} : { stderr: end.stderr }),
    ...(end.exitCode === null ? {} : { exitCode: end.exitCode }),
  }
  if (end.answer === null) {
    return { outcome: 'error', error: endedWithoutAnswer(end, maxResultBytes), data: printed, ...output }
  }
  const isLarge = end.answer.length > LARGE_BYTES
  const json = isLarge && takesLarge ? resultIn(end.answer) : null
  if (json !== null) return { outcome: 'ok', large: { json }, ...output }
  const answer = (isLarge ? await parseLarge(end.answer) : JSON.parse(end.answer.toString())) as
    | { readonly ok: true; readonly found: boolean; readonly data: Json }
    | { readonly ok: false; readonly failure: PythonFailure }
  if (!answer.ok) {
    return { outcome: 'error', error: classifyPythonFailure(answer.failure), data: printed, ...output }
  }
  return { outcome: 'ok', data: answer.found ? answer.data : printed, ...output }
}

/** What to say when the call was ended from outside; its output is still worth showing. */
const abortedResult = (reason: unknown, end: CallEnd | null): ToolResult => {
  const result = failed(reason)
  const error =
    result.error?.kind === 'timeout'
      ? { ...result.error, code: 'PY_TIMEOUT' }
      : (result.error as ToolFailure['error'])
  return {
    outcome: 'error',
    error,
    ...(end === null || end.stdout === '' ? {} : { stdout: end.stdout }),
    ...(end === null || end.stderr === '' ? {} : { stderr: end.stderr }),
  }
}

/** The interpreter of a call: `python`, or the one of the virtual environment in `deps`. */
const interpreterPath = (config: JsonObject, fallback: string): string => {
  const dependencies = isObject(config['deps']) ? config['deps'] : {}
  const environment = dependencies['venv_path']
  if (typeof environment === 'string' && environment !== '') return join(environment, 'bin', 'python')
  const python = config['python']
  return typeof python === 'string' && python !== '' && python !== 'python3' ? python : fallback
}

export const createPythonTool = (options: PythonToolOptions): PythonTool => {
  const { python = 'python3', directory = process.cwd(), fetch = openFetch } = options
  const size = options.maxInterpreters ?? Math.max(4, availableParallelism() * 2)
  const maxResultBytes = options.maxResultBytes ?? DEFAULT_RESULT_BYTES
  const pools = new Map<string, InterpreterPool>()
  const environments =
    options.environmentsDirectory === undefined
      ? null
      : createEnvironments({ directory: options.environmentsDirectory, env: options.env })

  const poolOf = (path: string): InterpreterPool => {
    const known = pools.get(path)
    if (known !== undefined) return known
    const pool = createInterpreterPool({
      size,
      callsPerInterpreter: options.callsPerInterpreter ?? DEFAULT_CALLS,
      start: (onExit) =>
        startInterpreter({ python: path, env: options.env, maxAnswerBytes: maxResultBytes, onExit }),
    })
    pools.set(path, pool)
    return pool
  }

  const withPackages = (path: string, packages: readonly string[], signal: AbortSignal): Promise<string> => {
    if (environments !== null) return environments.interpreterFor(path, packages, signal)
    throw configFailure('deps.packages needs a data directory, which this worker has not: use deps.venv_path')
  }

  const run = async (call: ToolCall): Promise<ToolResult> => {
    const { config, signal } = call
    try {
      const path = interpreterPath(config, python)
      const packages = packagesOf(config)
      const pool = poolOf(packages.length === 0 ? path : await withPackages(path, packages, signal))
      const loaded = loadSource(config, { directory, fetch, signal })
      const code = typeof loaded === 'string' ? loaded : await loaded
      const encoded = encodeRequest(call, code, options.memoryBytes ?? null)
      const request = encoded instanceof Promise ? await encoded : encoded
      const end = await pool.run({ request, signal, onOutput: (stream, text) => call.log(stream, text) })
      return signal.aborted && !hasAnswer(end)
        ? abortedResult(signal.reason, end)
        : await answerToResult(end, maxResultBytes, call.takesLarge === true)
    } catch (thrown) {
      return signal.aborted ? abortedResult(signal.reason, null) : failed(thrown)
    }
  }

  return {
    kind: 'python',
    declaration: pythonDeclaration,
    instant: false,
    run,
    interpreterCount: () => [...pools.values()].reduce((sum, pool) => sum + pool.count(), 0),
    async close() {
      environments?.close()
      await Promise.all([...pools.values()].map((pool) => pool.close()))
    },
  }
}

const hasAnswer = (end: CallEnd): boolean => end.answer !== null
