/**
 * Exports the trace of every execution that ends here. Spans come from the log, so that an export costs the running
 * work nothing but one read.
 *
 * 1. One execution at a time, in the order in which they ended, in batches of bounded size.
 * 2. A collector that is away delays exports, never executions; beyond a limit the oldest waiting ones are given up.
 * 3. Stopping sends what is waiting, as far as its grace allows.
 */
import type { EventRecord } from '../../contract/event.ts'
import { EVENT, terminalStatusOf } from '../../contract/event.ts'
import { createLru } from '../../lib/lru.ts'
import type { Span } from '../../replay/spans.ts'
import type { Core } from '../core.ts'
import type { Service } from '../service.ts'
import type { Collector } from './collector.ts'
import { executionSpans } from './execution-spans.ts'

const BATCH = 512
const MAX_WAITING = 10_000
const GRACE_MS = 5_000

export interface TraceExporter extends Service {
  /** Resolves when everything that ended so far is exported. */
  idle(): Promise<void>
}

export const createTraceExporter = (core: Core, collector: Collector, graceMs = GRACE_MS): TraceExporter => {
  /** The ended executions, and the position after which their spans were not told yet. */
  const waiting = new Map<string, number>()
  /** Bounded too: one that ends at another server is never asked for here. */
  const reopenedAt = createLru<string, number>(MAX_WAITING)
  const closing = new AbortController()
  let running: Promise<void> | null = null
  let unsubscribe: (() => void) | null = null

  const exportOne = async (executionId: string, after: number): Promise<void> => {
    let batch: Span[] = []
    for await (const span of executionSpans(core.shards, executionId, { after })) {
      batch.push(span)
      if (batch.length < BATCH) continue
      await collector.send(batch, closing.signal)
      batch = []
    }
    if (batch.length > 0) await collector.send(batch, closing.signal)
  }

  const run = async (): Promise<void> => {
    for (let next = waiting.entries().next(); !next.done; next = waiting.entries().next()) {
      const [executionId, after] = next.value
      waiting.delete(executionId)
      await exportOne(executionId, after).catch((error: unknown) =>
        core.log.warn({ execution_id: executionId, error }, 'trace not exported'),
      )
    }
    running = null
  }

  const heard = (executionId: string, events: readonly EventRecord[]): void => {
    for (const { eventType, position } of events) {
      if (eventType === EVENT.reopened) reopenedAt.set(executionId, position)
      if (terminalStatusOf(eventType) === null) continue
      waiting.set(executionId, reopenedAt.get(executionId) ?? 0)
      reopenedAt.delete(executionId)
    }
    for (const oldest of waiting.keys()) {
      if (waiting.size <= MAX_WAITING) break
      waiting.delete(oldest)
    }
    if (waiting.size > 0) running ??= run()
  }

  const idle = async (): Promise<void> => {
    for (let current = running; current; current = running) await current
  }

  return {
    idle,
    start: () => {
      unsubscribe ??= core.onCommit((state, events) => heard(state.executionId, events))
    },
    stop: async () => {
      unsubscribe?.()
      unsubscribe = null
      const timer = setTimeout(() => closing.abort(), graceMs)
      await idle()
      clearTimeout(timer)
    },
  }
}
