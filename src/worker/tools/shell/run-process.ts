/**
 * Runs one process to its end and collects what it prints.
 *
 * 1. The process leads a group of its own. When it ends, or is told to, the whole group goes: nothing it started outlives it,
 *    unless it left the group on purpose.
 * 2. Aborting asks the group to end, and kills it when it has not after a moment.
 * 3. A stranger that keeps the output open does not keep the call waiting.
 * 4. A worker that dies takes the group along.
 */
import { constants } from 'node:os'
import type { Writable } from 'node:stream'

import { configFailure } from '../../tool-failure.ts'
import { startToolProcess } from '../process/tool-process.ts'
import { createOutputBuffer } from './output-buffer.ts'

export interface ProcessOptions {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** What it reads; null for nothing. */
  readonly stdin: string | null
  /** What it reads as file descriptor 3; null for no such descriptor. */
  readonly script: string | null
  readonly maxOutputBytes: number
  readonly signal: AbortSignal
  readonly onOutput: (stream: 'stdout' | 'stderr', text: string) => void
}

export interface ProcessEnd {
  /** 128 and the number of the signal when one ended it, as shells report it. */
  readonly exitCode: number
  readonly signalName: string | null
  readonly stdout: string
  readonly stderr: string
  readonly stdoutTruncated: boolean
}

const KILL_AFTER_MS = 2_000
const CLOSE_WITHIN_MS = 500

const feed = (stream: Writable | null | undefined, text: string | null): void => {
  // A process that ends without reading its input breaks the pipe; its exit says whether that matters.
  stream?.on('error', () => undefined)
  stream?.end(text ?? '')
}

const startFailure = (program: string, error: NodeJS.ErrnoException): Error =>
  configFailure(
    error.code === 'ENOENT'
      ? `Cannot run "${program}": there is no such program on this worker`
      : `Cannot run "${program}": ${error.message}`,
    'PROGRAM_NOT_FOUND',
  )

export const runProcess = (options: ProcessOptions): Promise<ProcessEnd> =>
  new Promise((resolve, reject) => {
    const { program, signal, onOutput, maxOutputBytes } = options
    const { child, group } = startToolProcess(program, options.args, {
      cwd: options.cwd,
      env: options.env,
      stdio: [
        options.stdin === null ? 'ignore' : 'pipe',
        'pipe',
        'pipe',
        ...(options.script === null ? [] : (['pipe'] as const)),
      ],
    })
    const buffers = { stdout: createOutputBuffer(maxOutputBytes), stderr: createOutputBuffer(maxOutputBytes) }
    let killTimer: NodeJS.Timeout | undefined
    let closeTimer: NodeJS.Timeout | undefined

    let stopping = false

    const stop = (): void => {
      stopping = true
      group.signal('SIGTERM')
      killTimer = setTimeout(() => group.signal('SIGKILL'), KILL_AFTER_MS)
    }
    const over = (): void => {
      clearTimeout(killTimer)
      clearTimeout(closeTimer)
      signal.removeEventListener('abort', stop)
    }

    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.on('data', (chunk: Buffer) => {
        const text = buffers[name].add(chunk)
        if (text !== '') onOutput(name, text)
      })
    }
    child.on('error', (error) => {
      over()
      reject(startFailure(program, error))
    })
    child.on('exit', () => {
      // After an abort the others of the group keep their moment to clean up.
      if (!stopping) group.end()
      const closeWithinMs = CLOSE_WITHIN_MS + (stopping ? KILL_AFTER_MS : 0)
      closeTimer = setTimeout(() => {
        child.stdout?.destroy()
        child.stderr?.destroy()
      }, closeWithinMs)
    })
    child.on('close', (code, signalName) => {
      over()
      group.end()
      resolve({
        exitCode: code ?? 128 + (signalName === null ? 0 : constants.signals[signalName]),
        signalName,
        stdout: buffers.stdout.text(),
        stderr: buffers.stderr.text(),
        stdoutTruncated: buffers.stdout.truncated,
      })
    })
    feed(child.stdin, options.stdin)
    feed(child.stdio[3] as Writable | null | undefined, options.script)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
