/**
 * Wake-ups: somebody put work into a pool, or changed an execution. They are hints: losing one costs at most a poll
 * interval, a false one costs a look. The rows are the truth.
 *
 * 1. A notification wakes everybody who waits for its pool at that moment, in every process the dispatcher reaches,
 *    and nobody who waits for another pool.
 * 2. Nothing is remembered for those who come later; whoever waits listens first and looks then.
 * 3. After an interruption, during which hints may have been lost, everybody is woken.
 * 4. Neither `notify` nor `changed` waits or throws, whatever happens to the connection.
 * 5. Whoever closes it ends all waits.
 */
export interface Dispatcher {
  /** Work for this pool is waiting. */
  notify(pool: string): void
  /** Resolves at the next notification for the pool, when the time is over, or when the signal aborts. */
  wait(pool: string, timeoutMs: number, signal: AbortSignal): Promise<void>
  /** This process added events to an execution, the first of them at this position. */
  changed(executionId: string, position: number): void
  /** Tells what other processes changed. Answers how to stop. */
  onChange(listener: ChangeListener): () => void
  /** True while no change of another process is missed; whoever is told false has to look now and then. */
  hearsOthers(): boolean
  close(): Promise<void>
}

/** Executions with the position of their first new event; null when any execution may have changed. */
export type ChangeListener = (changes: ReadonlyMap<string, number> | null) => void
