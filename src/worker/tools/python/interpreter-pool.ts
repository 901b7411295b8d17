/**
 * A pool of warm interpreters of one Python.
 *
 * 1. It grows only when a call finds none idle, up to `size`; beyond that calls wait in line.
 * 2. An interpreter that dies leaves the pool by itself; the next call that needs one starts another.
 * 3. A call whose interpreter was lost before any user code ran is repeated once on another.
 * 4. After `callsPerInterpreter` calls an interpreter is let go, so that no slow leak can grow for ever.
 */
import type { CallOptions, Interpreter } from './interpreter.ts'
import type { CallEnd } from './python-call.ts'

export interface InterpreterPoolOptions {
  readonly size: number
  readonly callsPerInterpreter: number
  readonly start: (onExit: () => void) => Interpreter
}

export interface InterpreterPool {
  run(call: CallOptions): Promise<CallEnd>
  /** Interpreters alive now. */
  count(): number
  close(): Promise<void>
}

export const createInterpreterPool = (options: InterpreterPoolOptions): InterpreterPool => {
  const all = new Set<Interpreter>()
  /** The last one used is the first one taken: its memory is the warmest. */
  const idle: Interpreter[] = []
  /** Called with an interpreter, or with null when there may be room for a new one. */
  const line: ((interpreter: Interpreter | null) => void)[] = []
  let closed = false
  let onEmpty: (() => void) | null = null

  const startOne = (): Interpreter => {
    const interpreter = options.start(() => {
      all.delete(interpreter)
      const position = idle.indexOf(interpreter)
      if (position >= 0) idle.splice(position, 1)
      line.shift()?.(null)
      if (all.size === 0) onEmpty?.()
    })
    all.add(interpreter)
    return interpreter
  }

  const acquire = async (signal: AbortSignal): Promise<Interpreter> => {
    for (;;) {
      if (closed) throw new Error('The pool of Python interpreters is closed')
      signal.throwIfAborted()
      const free = idle.pop() ?? (all.size < options.size ? startOne() : undefined)
      const interpreter = free ?? (await turn(signal))
      if (interpreter !== null) return interpreter
    }
  }

  /** Resolves with an interpreter, or with null when it is time to look again. */
  const turn = (signal: AbortSignal): Promise<Interpreter | null> =>
    new Promise((resolve) => {
      const wake = (interpreter: Interpreter | null): void => {
        signal.removeEventListener('abort', leave)
        resolve(interpreter)
      }
      const leave = (): void => {
        const position = line.indexOf(wake)
        if (position >= 0) line.splice(position, 1)
        resolve(null)
      }
      line.push(wake)
      signal.addEventListener('abort', leave, { once: true })
    })

  const giveBack = (interpreter: Interpreter): void => {
    if (!interpreter.alive) return
    if (closed || interpreter.calls >= options.callsPerInterpreter) {
      // Its exit wakes the next in line.
      interpreter.close()
      return
    }
    const next = line.shift()
    if (next === undefined) idle.push(interpreter)
    else next(interpreter)
  }

  const runOnce = async (call: CallOptions): Promise<CallEnd> => {
    const interpreter = await acquire(call.signal)
    try {
      call.signal.throwIfAborted()
      return await interpreter.run(call)
    } finally {
      giveBack(interpreter)
    }
  }

  return {
    async run(call) {
      const end = await runOnce(call)
      return end.interpreterLost && !end.started && !call.signal.aborted ? runOnce(call) : end
    },
    count: () => all.size,
    close() {
      closed = true
      for (const wake of line.splice(0)) wake(null)
      for (const interpreter of all) interpreter.close()
      return all.size === 0 ? Promise.resolve() : new Promise((resolve) => void (onEmpty = resolve))
    },
  }
}
