/** Background services are twins: start, run once in a while, stop. A run that fails is logged and tried again. */
import type { Log } from './log.ts'

export interface Service {
  start(): void
  /** Resolves when no run is under way and none will follow. */
  stop(): Promise<void>
}

export interface ServiceOptions {
  readonly name: string
  readonly intervalMs: number
  readonly log: Log
  run(): Promise<unknown>
}

export const createService = ({ name, intervalMs, log, run }: ServiceOptions): Service => {
  let timer: NodeJS.Timeout | null = null
  let stopped = true
  let running: Promise<void> = Promise.resolve()
  const schedule = (): void => {
    timer = setTimeout(() => {
      running = run()
        .catch((error: unknown) =>
          log.error({ service: name, error }, 'background service failed; it will try again'),
        )
        .then(() => {
          if (!stopped) schedule()
        })
    }, intervalMs)
    timer.unref()
  }
  return {
    start: () => {
      if (!stopped) return
      stopped = false
      schedule()
    },
    stop: async () => {
      stopped = true
      if (timer) clearTimeout(timer)
      await running
    },
  }
}
