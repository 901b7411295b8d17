/**
 * Sends spans to a collector, in batches. What a collector does not take after some tries is dropped and counted: a
 * trace is worth less than the work it describes.
 */
import type { AttributeValue, Span } from '../../replay/spans.ts'
import type { Log } from '../log.ts'
import { otlpTraces } from './otlp.ts'

export interface CollectorOptions {
  /** Where traces are posted. */
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly resource: Readonly<Record<string, AttributeValue>>
  readonly version: string
  readonly log: Log
  readonly tries?: number
  readonly firstDelayMs?: number
  readonly timeoutMs?: number
}

export interface Collector {
  /** Resolves when the collector has the spans, or when they were dropped. */
  send(spans: readonly Span[], signal: AbortSignal): Promise<void>
  sent(): number
  dropped(): number
}

const MAX_DELAY_MS = 30_000

export const createCollector = (options: CollectorOptions): Collector => {
  const {
    endpoint,
    headers,
    resource,
    version,
    log,
    tries = 5,
    firstDelayMs = 500,
    timeoutMs = 10_000,
  } = options
  let sent = 0
  let dropped = 0

  /** Null when it was taken, else why not and whether another try may help. */
  const post = async (
    body: string,
    signal: AbortSignal,
  ): Promise<{ reason: string; again: boolean; afterMs: number } | null> => {
    try {
      const answer = await fetch(endpoint, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      })
      const text = await answer.text()
      if (answer.ok) return null
      const again = answer.status === 429 || answer.status >= 500
      const afterMs = Number(answer.headers.get('retry-after') ?? 0) * 1000 || 0
      return { reason: `${answer.status} ${text.slice(0, 200)}`, again, afterMs }
    } catch (error) {
      return { reason: error instanceof Error ? error.message : String(error), again: true, afterMs: 0 }
    }
  }

  return {
    sent: () => sent,
    dropped: () => dropped,
    send: async (spans, signal) => {
      const body = JSON.stringify(otlpTraces(spans, resource, version))
      for (let attempt = 1; ; attempt += 1) {
        const failure = await post(body, signal)
        if (!failure) {
          sent += spans.length
          return
        }
        if (!failure.again || attempt >= tries || signal.aborted) {
          dropped += spans.length
          log.warn(
            { endpoint, spans: spans.length, reason: failure.reason },
            'traces were not taken by the collector',
          )
          return
        }
        const delay = Math.min(MAX_DELAY_MS, Math.max(failure.afterMs, firstDelayMs * 2 ** (attempt - 1)))
        await pause(delay, signal)
      }
    },
  }
}

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
