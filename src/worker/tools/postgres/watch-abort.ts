/** Stops what runs on a connection when the signal aborts; the answer takes the watch away. */
import type { PooledConnection } from './connection-pools.ts'

/** A server that does not react to being asked loses the connection. */
const SEVER_AFTER_MS = 2_000

export const watchAbort = (connection: PooledConnection, signal: AbortSignal): (() => void) => {
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    connection.cancel()
    timer = setTimeout(() => connection.sever(), SEVER_AFTER_MS)
  }
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}
