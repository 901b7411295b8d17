/**
 * Wake-ups: somebody put work into a pool. They are hints: losing one costs at most a poll interval, a false one
 * costs a look into the queue. The rows are the truth.
 */
export interface Dispatcher {
  /** Work for this pool is waiting. */
  notify(pool: string): void
  /** Resolves at the next notification for the pool, when the time is over, or when the signal aborts. */
  wait(pool: string, timeoutMs: number, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}
