/**
 * Runs a container image to its end, with docker or podman.
 *
 * 1. Data is `{status, exit_code, stdout, stderr, image, container}`, `json` when standard output is JSON. It is there
 *    after failures too.
 * 2. An exit code other than 0 is an error of kind `process`; 125 is the runtime itself that could not start it.
 * 3. Output is shown as it appears.
 * 4. Timeouts, cancellation and the death of the worker remove the container; removing its client alone would leave it running.
 * 5. Which runtime there is is found out once it is needed, and again only while there is none.
 */
import { createHash } from 'node:crypto'

import type { Json, JsonObject } from '../../contract/json.ts'
import { container } from '../../contract/tools/container.ts'
import { parseJson } from '../../lib/exact-json.ts'
import { failed } from '../tool-failure.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import { textOf } from './coerce.ts'
import { findRuntime } from './container/find-runtime.ts'
import { runArguments } from './container/run-arguments.ts'
import { runWhenThisProcessEnds } from './process/keeper.ts'
import { type ProcessEnd, runProcess } from './shell/run-process.ts'

export interface ContainerToolOptions {
  /** Environment of the runtime's client. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Program to use; null looks for docker and podman. */
  readonly runtime: string | null
  readonly maxOutputBytes?: number
}

export interface ContainerTool extends Tool {
  run(call: ToolCall): Promise<ToolResult>
}

const DEFAULT_OUTPUT_BYTES = 1024 * 1024
const REMOVE_MS = 10_000
const NOT_STARTED = 125
const nothing = (): void => undefined
const removal = (name: string): readonly string[] => ['rm', '--force', name]

/** Names one container of one call; a call that is repeated after a crash must not meet its own remains. */
const containerName = ({ command, callId }: ToolCall): string => {
  const digest = createHash('sha256').update(`${callId}/${command.attempt}/${command.leaseToken}`)
  return `noetl-${command.executionId}-${digest.digest('hex').slice(0, 12)}`
}

const jsonOf = ({ stdout, stdoutTruncated }: ProcessEnd): { json?: Json } => {
  if (stdoutTruncated || stdout.trim() === '') return {}
  try {
    return { json: parseJson(stdout) as Json }
  } catch {
    return {}
  }
}

const errorOf = (end: ProcessEnd, image: string): NonNullable<ToolResult['error']> => {
  const { exitCode, stderr } = end
  if (exitCode === NOT_STARTED) {
    const reason = stderr.trim().split('\n').at(-1) ?? ''
    const message = `The container of ${image} could not be started: ${reason}`
    return { kind: 'process', code: 'CONTAINER_NOT_STARTED', message, retryable: false }
  }
  const hint = exitCode === 137 ? ' (it was killed; it may have been out of memory)' : ''
  const message = `The container of ${image} exited with code ${exitCode}${hint}`
  return { kind: 'process', code: `EXIT_${exitCode}`, message, retryable: false }
}

const resultOf = (end: ProcessEnd, image: string, name: string, signal: AbortSignal): ToolResult => {
  const { exitCode, stdout, stderr } = end
  const isSuccess = exitCode === 0 && !signal.aborted
  const data: JsonObject = {
    status: isSuccess ? 'succeeded' : 'failed',
    exit_code: exitCode,
    stdout,
    stderr,
    image,
    container: name,
    ...jsonOf(end),
  }
  const output = {
    data,
    exitCode,
    ...(stdout === '' ? {} : { stdout }),
    ...(stderr === '' ? {} : { stderr }),
  }
  if (isSuccess) return { outcome: 'ok', ...output }
  if (signal.aborted) return { ...failed(signal.reason), ...output }
  return { outcome: 'error', error: errorOf(end, image), ...output }
}

export const createContainerTool = (options: ContainerToolOptions): ContainerTool => {
  const { env } = options
  let found: string | null = null

  const client = (
    runtime: string,
    args: readonly string[],
    over: {
      readonly env?: Readonly<Record<string, string>>
      readonly stdin?: string | null
      readonly signal: AbortSignal
      readonly onOutput?: ToolCall['log']
    },
  ): Promise<ProcessEnd> =>
    runProcess({
      program: runtime,
      args,
      cwd: process.cwd(),
      env: { ...env, ...over.env },
      stdin: over.stdin ?? null,
      script: null,
      maxOutputBytes: options.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES,
      signal: over.signal,
      onOutput: over.onOutput ?? nothing,
    })

  const remove = async (runtime: string, name: string): Promise<void> => {
    await client(runtime, removal(name), { signal: AbortSignal.timeout(REMOVE_MS) }).catch(nothing)
  }

  const runContainer = async (call: ToolCall): Promise<ToolResult> => {
    const { config, command, signal, log } = call
    const name = containerName(call)
    const { args, env: own, image } = runArguments(config, { ...command, name })
    const runtime = (found ??= await findRuntime(options.runtime, env))
    signal.throwIfAborted()
    const removing: Promise<void>[] = []
    const removeNow = (): void => void removing.push(remove(runtime, name))
    signal.addEventListener('abort', removeNow, { once: true })
    const callOff = runWhenThisProcessEnds({ program: runtime, args: removal(name), cwd: process.cwd(), env })
    try {
      const end = await client(runtime, args, {
        env: own,
        stdin: textOf(config['stdin']),
        signal,
        onOutput: log,
      })
      await Promise.all(removing)
      // The client may have been about to create it when it was removed the first time.
      if (signal.aborted) await remove(runtime, name)
      return resultOf(end, image, name, signal)
    } finally {
      signal.removeEventListener('abort', removeNow)
      callOff()
    }
  }

  return {
    kind: 'container',
    declaration: container,
    instant: false,
    async run(call) {
      try {
        return await runContainer(call)
      } catch (thrown) {
        return failed(call.signal.aborted ? call.signal.reason : thrown)
      }
    },
  }
}
