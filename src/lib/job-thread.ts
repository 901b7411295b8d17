/**
 * A thread beside the process for work that would hold it up.
 *
 * 1. It is started by the first job and ended when it had none for a while: memory that a job needed is given back.
 * 2. Jobs are done one after another, in their order. A thread that dies fails the jobs it had, and the next job starts another.
 * 3. It keeps nobody alive: a process with nothing else to do ends.
 */
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

export interface JobThread {
  /** What is transferred is gone here afterwards. */
  run(job: unknown, transfer?: readonly ArrayBuffer[]): Promise<unknown>
  /** Ends the thread now; jobs under way fail. */
  close(): Promise<void>
}

export interface JobThreadOptions {
  /** How long it may be idle before it ends. */
  readonly idleMs?: number
  /** Memory for objects; a job that needs more fails alone. */
  readonly heapMegabytes?: number
}

const IDLE_MS = 10_000
const HEAP_MEGABYTES = 2048
/** What jobs leave behind is collected early: they have time, others need the memory. */
const YOUNG_MEGABYTES = 8

interface Waiting {
  resolve(value: unknown): void
  reject(error: unknown): void
}

type Answer = { readonly id: number } & (
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown }
)

interface Running {
  readonly thread: Worker
  readonly waiting: Map<number, Waiting>
}

/** `program` is a module that calls `serveJobs`. */
export const createJobThread = (program: URL, options: JobThreadOptions = {}): JobThread => {
  const { idleMs = IDLE_MS, heapMegabytes = HEAP_MEGABYTES } = options
  let running: Running | null = null
  let idle: NodeJS.Timeout | undefined
  let lastId = 0

  const start = (): Running => {
    const thread = new Worker(program, {
      // Nothing of how the process was started is for the thread, but warnings about running TypeScript are for nobody.
      execArgv: ['--disable-warning=ExperimentalWarning'],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
    })
    const waiting = new Map<number, Waiting>()
    const started: Running = { thread, waiting }
    const over = (error: unknown): void => {
      if (running === started) running = null
      for (const job of waiting.values()) job.reject(error)
      waiting.clear()
    }
    thread.on('message', (answer: Answer) => {
      const job = waiting.get(answer.id)
      waiting.delete(answer.id)
      if (waiting.size === 0) rest(started)
      if (answer.ok) job?.resolve(answer.value)
      else job?.reject(answer.error)
    })
    thread.on('error', over)
    thread.on('exit', (code) => over(new Error(`The thread for large data ended with code ${code}`)))
    return (running = started)
  }

  const rest = (started: Running): void => {
    started.thread.unref()
    idle = setTimeout(() => {
      if (running === started) running = null
      void started.thread.terminate()
    }, idleMs)
    idle.unref()
  }

  return {
    run: (job, transfer = []) =>
      new Promise((resolve, reject) => {
        clearTimeout(idle)
        const { thread, waiting } = running ?? start()
        const id = (lastId += 1)
        thread.ref()
        thread.postMessage({ id, job }, [...transfer])
        waiting.set(id, { resolve, reject })
      }),
    close: async () => {
      clearTimeout(idle)
      const ended = running
      running = null
      await ended?.thread.terminate()
    },
  }
}

export interface Done {
  readonly value: unknown
  /** Handed over instead of copied. */
  readonly transfer?: readonly ArrayBuffer[]
}

/** The other side: does the jobs that arrive, one after another. */
export const serveJobs = (run: (job: unknown) => Done): void => {
  if (isMainThread || parentPort === null) throw new Error('jobs are served in a thread of their own')
  const port = parentPort
  port.on('message', ({ id, job }: { readonly id: number; readonly job: unknown }) => {
    try {
      const { value, transfer = [] } = run(job)
      port.postMessage({ id, ok: true, value } satisfies Answer, [...transfer])
    } catch (error) {
      port.postMessage({ id, ok: false, error } satisfies Answer)
    }
  })
}
