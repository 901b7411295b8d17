/**
 * Where an execution stands in a distributed trace (W3C Trace Context).
 *
 * 1. Every execution has a trace: the one its caller named, else one made of its own id.
 * 2. Span ids are made of ids in the log, so that whoever looks at the log computes the same spans.
 * 3. What is not a valid context is ignored, never an error: tracing must not stop work.
 */
import type { Json, JsonObject } from './json.ts'
import { isObject } from './json.ts'

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** The span of the caller; null when the execution begins the trace. */
  readonly parentSpanId: string | null
  readonly sampled: boolean
  readonly tracestate: string | null
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})/
/** What a header and an environment can carry. */
const TRACESTATE = /^[\x21-\x7e][\x20-\x7e]{0,4095}$/
const MASK = 0xffff_ffff_ffff_ffffn
/** Spreads the bits of an id; any odd number does. */
const SPREAD = 0x9e37_79b9_7f4a_7c15n

const hex = (value: bigint): string => (value & MASK).toString(16).padStart(16, '0')

/** `trace` is what the start of the execution recorded: `{traceparent, tracestate?}` or nothing. */
export const traceContextOf = (executionId: string, trace: Json | undefined): TraceContext => {
  const given = isObject(trace) ? trace : {}
  const { traceparent, tracestate } = given
  const found = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent) : null
  if (!found) {
    const id = BigInt(executionId)
    return { traceId: hex(id) + hex(id * SPREAD), parentSpanId: null, sampled: true, tracestate: null }
  }
  const [, traceId = '', parentSpanId = '', flags = ''] = found
  return {
    traceId,
    parentSpanId,
    sampled: (Number.parseInt(flags, 16) & 1) === 1,
    tracestate: typeof tracestate === 'string' && TRACESTATE.test(tracestate) ? tracestate : null,
  }
}

/** Differs from the span of the event with the same id: a child execution carries the id of the command that started it. */
export const executionSpanId = (executionId: string): string => hex(BigInt(executionId) * SPREAD)

export const eventSpanId = (eventId: string): string => hex(BigInt(eventId))

/** The headers of a request as the trace of an execution; null when they hold none that is valid. */
export const traceOfHeaders = (
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): JsonObject | null => {
  const { traceparent, tracestate } = headers
  if (typeof traceparent !== 'string' || traceContextOf('0', { traceparent }).parentSpanId === null)
    return null
  return { traceparent, ...(typeof tracestate === 'string' ? { tracestate } : {}) }
}

export interface ToolTrace {
  readonly traceparent: string
  readonly tracestate?: string
}

/** What a tool hands on, so that what it calls appears under its command. */
export const toolTrace = (
  executionId: string,
  commandEventId: string,
  trace: Json | undefined,
): ToolTrace => {
  const { traceId, sampled, tracestate } = traceContextOf(executionId, trace)
  return {
    traceparent: `00-${traceId}-${eventSpanId(commandEventId)}-${sampled ? '01' : '00'}`,
    ...(tracestate === null ? {} : { tracestate }),
  }
}
