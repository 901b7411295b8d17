/**
 * One warm interpreter process, seen from Node.
 *
 * 1. One call at a time. A call ends exactly once: with the exit the interpreter reports, or with its loss.
 * 2. Aborting a call kills its process group through the interpreter; an interpreter that does not confirm the kill in
 *    time is killed too, and the group with it.
 * 3. An idle interpreter does not keep the worker's process alive; a running call does.
 * 4. When the worker dies, interpreter and call end.
 */
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

import type { ToolFailure } from '../../tool-failure.ts'
import { signalGroup, startToolProcess } from '../process/tool-process.ts'
import { createFrameDecoder, encodeFrame } from './frames.ts'
import { type CallCollector, type CallEnd, createCallCollector } from './python-call.ts'
import { brokenStart, notStarted, tooOld } from './start-failure.ts'

export interface InterpreterOptions {
  readonly python: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly maxAnswerBytes: number
  readonly onExit: () => void
}

export interface CallOptions {
  readonly request: Buffer
  readonly signal: AbortSignal
  readonly onOutput: (stream: 'stdout' | 'stderr', text: string) => void
}

export interface Interpreter {
  readonly alive: boolean
  readonly calls: number
  /** Rejects with a ToolFailure when the interpreter could not be started at all. */
  run(call: CallOptions): Promise<CallEnd>
  /** Lets it end: at once when idle, else after its call was killed. */
  close(): void
}

const PROGRAM = fileURLToPath(new URL('interpreter.py', import.meta.url))
const KILL_CONFIRM_MS = 2_000
const NO_PAYLOAD = Buffer.alloc(0)
const KEPT_NOTES = 4096

interface Running {
  readonly collector: CallCollector
  readonly settle: (end: CallEnd) => void
  readonly fail: (failure: ToolFailure) => void
  pid: number | null
}

export const startInterpreter = (options: InterpreterOptions): Interpreter => {
  const { python, onExit } = options
  const { child, group } = startToolProcess(python, [PROGRAM], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    env: options.env,
    // It notices, and ends its call, which leads a group of its own.
    killed: 'when-stuck',
  })
  const [requests, answers] = [child.stdio[3] as Socket, child.stdio[4] as Socket]
  let running: Running | null = null
  let ready = false
  let alive = true
  let calls = 0
  let notes = ''
  let failure: ToolFailure | null = null

  const end = (): void => {
    if (!alive) return
    alive = false
    group.end()
    onExit()
    const call = running
    running = null
    if (call === null) return
    if (call.pid !== null) signalGroup(call.pid, 'SIGKILL')
    if (ready) call.settle(call.collector.lost())
    else call.fail(failure ?? brokenStart(python, notes))
  }

  const onFrame = (type: string, payload: Buffer): void => {
    if (type === 'H') {
      ready = true
      const hello = JSON.parse(payload.toString()) as { version: string; tooOld?: boolean }
      if (hello.tooOld !== true) return
      ready = false
      failure = tooOld(python, hello.version)
    }
    if (running === null) return
    if (type === 'S') {
      running.pid = Number(payload.toString())
      running.collector.started()
    } else if (type === 'O') running.collector.output('stdout', payload)
    else if (type === 'E') running.collector.output('stderr', payload)
    else if (type === 'R') running.collector.answerPart(payload)
    else if (type === 'X') {
      const { collector, settle } = running
      running = null
      child.unref()
      answers.unref()
      settle(collector.exited(JSON.parse(payload.toString())))
    }
  }

  child.on('error', (error) => {
    failure = notStarted(python, error)
    end()
  })
  child.on('exit', end)
  child.stderr?.on('data', (chunk: Buffer) => {
    notes = (notes + chunk.toString()).slice(-KEPT_NOTES)
  })
  const decode = createFrameDecoder(onFrame)
  answers.on('data', decode)
  for (const stream of [requests, answers]) stream.on('error', () => child.kill('SIGKILL'))
  child.unref()
  for (const stream of [requests, answers, child.stderr as Socket]) stream.unref()

  const kill = (): void => {
    requests.write(encodeFrame('K', NO_PAYLOAD))
  }

  const run = (call: CallOptions): Promise<CallEnd> =>
    new Promise((resolve, reject) => {
      let unconfirmed: NodeJS.Timeout | undefined
      const stop = (): void => {
        if (unconfirmed !== undefined) return
        kill()
        unconfirmed = setTimeout(() => child.kill('SIGKILL'), KILL_CONFIRM_MS)
      }
      const over = (): void => {
        clearTimeout(unconfirmed)
        call.signal.removeEventListener('abort', stop)
      }
      calls += 1
      running = {
        collector: createCallCollector(options.maxAnswerBytes, { onOutput: call.onOutput, onTooLarge: stop }),
        pid: null,
        settle(callEnd) {
          over()
          resolve(callEnd)
        },
        fail(reason) {
          over()
          reject(reason)
        },
      }
      if (!alive) {
        const { collector, settle } = running
        running = null
        settle(collector.lost())
        return
      }
      child.ref()
      answers.ref()
      call.signal.addEventListener('abort', stop, { once: true })
      requests.write(encodeFrame('C', call.request))
    })

  return {
    get alive() {
      return alive
    },
    get calls() {
      return calls
    },
    run,
    close() {
      child.ref()
      requests.end()
    },
  }
}
