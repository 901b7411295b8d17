/** What was started, to be stopped in the reverse order. */
import type { Log } from '../worker/log.ts'

/** One thing to stop. */
export interface Undo {
  /** What is waited for, as people call it. */
  readonly what: string
  readonly run: () => Promise<unknown>
}

/** Told what a stop waits for when it takes long. */
export type OnSlow = (what: string) => void

/** A stop that waits longer than this for one thing says so. */
const SLOW_MS = 1500

/** Empties the list. What cannot be stopped is logged and does not keep the rest from stopping. */
export const stopAll = async (undo: Undo[], log: Log, onSlow?: OnSlow): Promise<void> => {
  for (const { what, run } of undo.splice(0).toReversed()) {
    const timer = setTimeout(() => onSlow?.(what), SLOW_MS)
    await run().catch((error: unknown) => log.error({ error }, `stopping failed: ${what}`))
    clearTimeout(timer)
  }
}
