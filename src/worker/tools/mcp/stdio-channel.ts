/**
 * A conversation with a server that is a program of this machine: one message per line on its standard input and output.
 *
 * 1. The program leads a process group of its own, which is ended with the conversation, and with the worker.
 * 2. What it writes to its standard error is its log.
 * 3. A line that is no message is ignored: programs greet.
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { createInterface } from 'node:readline'

import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { parseJson } from '../../../lib/exact-json.ts'
import { configFailure, ToolFailure } from '../../tool-failure.ts'
import { startToolProcess } from '../process/tool-process.ts'
import { logLine, type McpChannel, notification, replyTo, requestMessage, resultOf } from './rpc.ts'

export interface StdioChannelOptions {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string | null
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly log: (text: string) => void
}

interface Waiting {
  resolve(answer: JsonObject): void
  reject(reason: unknown): void
}

const LAST_WORDS = 1_000

const read = (line: string): Json => {
  try {
    return parseJson(line) as Json
  } catch {
    return null
  }
}

const endedFailure = (program: string, lastWords: string): ToolFailure =>
  new ToolFailure({
    kind: 'process',
    code: 'MCP_SERVER_ENDED',
    message: `The MCP server "${program}" ended before it answered${lastWords === '' ? '' : `: ${lastWords.trim()}`}`,
    retryable: false,
  })

const startFailure = (program: string, { code, message }: NodeJS.ErrnoException): ToolFailure =>
  configFailure(
    code === 'ENOENT'
      ? `Cannot run "${program}": there is no such program on this worker`
      : `Cannot run "${program}": ${message}`,
    'PROGRAM_NOT_FOUND',
  )

export const createStdioChannel = (options: StdioChannelOptions): McpChannel => {
  const { program, args, signal, log } = options
  const started = startToolProcess(program, args, {
    cwd: options.cwd ?? undefined,
    env: options.env,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const child = started.child as ChildProcessWithoutNullStreams
  const waiting = new Map<Json, Waiting>()
  let failure: unknown = null
  let lastWords = ''

  const fail = (reason: unknown): void => {
    failure ??= reason
    for (const { reject } of waiting.values()) reject(failure)
    waiting.clear()
  }
  const send = (message: JsonObject): void => void child.stdin.write(`${JSON.stringify(message)}\n`)

  const hear = (message: Json): void => {
    if (!isObject(message)) return
    const line = logLine(message)
    if (line !== null) log(line)
    const id = message['id'] ?? null
    const waiter = 'method' in message ? undefined : waiting.get(id)
    if (waiter !== undefined) {
      waiting.delete(id)
      waiter.resolve(message)
      return
    }
    const reply = replyTo(message)
    if (reply !== null) send(reply)
  }

  const abort = (): void => {
    fail(signal.reason)
    started.group.end()
  }

  child.on('error', (error) => fail(startFailure(program, error)))
  child.on('close', () => fail(endedFailure(program, lastWords)))
  // A program that ended breaks the pipe; its end says so.
  child.stdin.on('error', () => undefined)
  child.stderr.on('data', (chunk: Buffer) => {
    lastWords = (lastWords + chunk.toString()).slice(-LAST_WORDS)
    log(chunk.toString())
  })
  createInterface({ input: child.stdout }).on('line', (line) => hear(read(line)))
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })

  return {
    address: [program, ...args].join(' '),
    async request(request) {
      if (failure !== null) throw failure
      const answer = new Promise<JsonObject>((resolve, reject) => {
        waiting.set(request.id, { resolve, reject })
      })
      send(requestMessage(request))
      return resultOf(await answer, `${request.method} of ${program}`)
    },
    async notify(method) {
      send(notification(method))
    },
    agree: () => undefined,
    async close() {
      signal.removeEventListener('abort', abort)
      started.group.end()
    },
  }
}
