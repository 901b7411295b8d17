/** Spans in the JSON encoding of the OpenTelemetry protocol, which every collector takes at `/v1/traces`. */
import type { AttributeValue, Span } from '../../replay/spans.ts'

const SERVER_KIND = 2
const CLIENT_KIND = 3
const INTERNAL_KIND = 1
const STATUS = { unset: 0, ok: 1, error: 2 } as const
const SAMPLED = 1

export const otlpTraces = (
  spans: readonly Span[],
  resource: Readonly<Record<string, AttributeValue>>,
  version: string,
) => ({
  resourceSpans: [
    {
      resource: { attributes: attributes(resource) },
      scopeSpans: [{ scope: { name: 'noetl', version }, spans: spans.map(otlpSpan) }],
    },
  ],
})

const otlpSpan = (span: Span) => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentSpanId === null ? {} : { parentSpanId: span.parentSpanId }),
  ...(span.tracestate === null ? {} : { traceState: span.tracestate }),
  flags: SAMPLED,
  name: span.name,
  kind: kindOf(span),
  startTimeUnixNano: nanoseconds(span.startedAt),
  endTimeUnixNano: nanoseconds(span.endedAt),
  attributes: attributes(span.attributes),
  events: span.events.map(({ name, at, attributes: own }) => ({
    name,
    timeUnixNano: nanoseconds(at),
    attributes: attributes(own),
  })),
  status: { code: STATUS[span.outcome], ...(span.message === null ? {} : { message: span.message }) },
})

/** Commands leave the control plane, executions enter it, steps are its own. */
const kindOf = ({ attributes: own }: Span): number =>
  'noetl.command_id' in own ? CLIENT_KIND : 'noetl.step' in own ? INTERNAL_KIND : SERVER_KIND

const nanoseconds = (iso: string): string => `${Date.parse(iso)}000000`

const attributes = (values: Readonly<Record<string, AttributeValue>>) =>
  Object.entries(values).map(([key, value]) => ({ key, value: otlpValue(value) }))

const otlpValue = (value: AttributeValue) => {
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'string') return { stringValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
