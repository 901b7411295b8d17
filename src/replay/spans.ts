/**
 * The log as a trace: a span for the execution, for each run of a step and for each command.
 *
 * 1. A span is given out when it ends; what is still open at the end of an execution ends with it.
 * 2. Commands stand under their step run, step runs under the execution, the execution under its caller.
 * 3. Attempts are events of their command's span: claimed, released, with the worker.
 * 4. A log gives the same spans whenever it is read, as a whole or piece by piece.
 */
import type { EventRecord } from '../contract/event.ts'
import { canonicalEventType, EVENT, terminalStatusOf } from '../contract/event.ts'
import { isObject } from '../contract/json.ts'
import type { TraceContext } from '../contract/trace.ts'
import { eventSpanId, executionSpanId, traceContextOf } from '../contract/trace.ts'

export type AttributeValue = string | number | boolean

export interface SpanEvent {
  readonly name: string
  /** ISO-8601 UTC. */
  readonly at: string
  readonly attributes: Readonly<Record<string, AttributeValue>>
}

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | null
  readonly tracestate: string | null
  readonly name: string
  readonly startedAt: string
  readonly endedAt: string
  readonly outcome: 'ok' | 'error' | 'unset'
  readonly message: string | null
  readonly attributes: Readonly<Record<string, AttributeValue>>
  readonly events: readonly SpanEvent[]
}

export interface SpanBuilder {
  /** Takes the next event of the log; answers the spans that it ended. */
  add(event: EventRecord): readonly Span[]
  /** The spans that are open now, as if they ended at the last event. */
  open(): readonly Span[]
  /** False when the caller asked not to record its trace. */
  readonly sampled: boolean
}

interface OpenSpan {
  readonly spanId: string
  readonly parentSpanId: string | null
  readonly name: string
  readonly startedAt: string
  readonly attributes: Record<string, AttributeValue>
  readonly events: SpanEvent[]
}

const ENDS: Readonly<Record<string, 'ok' | 'error' | 'unset'>> = {
  [EVENT.commandCompleted]: 'ok',
  [EVENT.commandFailed]: 'error',
  [EVENT.commandCancelled]: 'unset',
}
/** Words of reports that are failures although the command completed. */
const FAILURES: ReadonlySet<string> = new Set(['error', 'failed', 'timeout', 'cancelled'])

/** `trace` is what the start of the execution recorded. */
const createSpanBuilder = (executionId: string, trace: TraceContext): SpanBuilder => {
  const rootId = executionSpanId(executionId)
  const commands = new Map<string, OpenSpan>()
  const steps = new Map<string, OpenSpan>()
  let root: OpenSpan | null = null
  let path = ''
  let lastAt = ''

  const opened = (
    spanId: string,
    parentSpanId: string | null,
    name: string,
    at: string,
    attributes: Record<string, AttributeValue>,
  ): OpenSpan => ({ spanId, parentSpanId, name, startedAt: at, attributes, events: [] })

  const closed = (span: OpenSpan, at: string, outcome: Span['outcome'], message: string | null): Span => ({
    ...span,
    traceId: trace.traceId,
    tracestate: trace.tracestate,
    endedAt: at < span.startedAt ? span.startedAt : at,
    outcome,
    message: outcome === 'error' ? message : null,
  })

  const start = (event: EventRecord): void => {
    const { context, meta } = event
    // What runs again after its end is a span of its own under the first.
    const again = event.eventType === EVENT.reopened
    const spanId = again ? eventSpanId(event.eventId) : rootId
    if (!again)
      path =
        isObject(context) && typeof context['path'] === 'string' ? context['path'] : (event.nodeName ?? '')
    root = opened(spanId, again ? rootId : trace.parentSpanId, `playbook ${path}`.trim(), event.createdAt, {
      'noetl.execution_id': executionId,
      'noetl.playbook.path': path,
      ...text('noetl.pool', meta['execution_pool']),
    })
  }

  const enter = (event: EventRecord): void => {
    const name = event.nodeName ?? ''
    steps.set(
      name,
      opened(eventSpanId(event.eventId), root?.spanId ?? rootId, `step ${name}`, event.createdAt, {
        'noetl.execution_id': executionId,
        'noetl.step': name,
      }),
    )
  }

  const issue = (event: EventRecord): void => {
    const { meta, nodeName, nodeType } = event
    const commandId = meta['command_id']
    if (typeof commandId !== 'string') return
    const parent = steps.get(nodeName ?? '')?.spanId ?? root?.spanId ?? rootId
    commands.set(
      commandId,
      opened(
        eventSpanId(event.eventId),
        parent,
        `${nodeType ?? 'tool'} ${nodeName ?? ''}`.trim(),
        event.createdAt,
        {
          'noetl.execution_id': executionId,
          'noetl.step': nodeName ?? '',
          'noetl.command_id': commandId,
          'noetl.tool': nodeType ?? '',
          ...number('noetl.iteration', meta['iteration_index']),
        },
      ),
    )
  }

  const note = (event: EventRecord, name: string): void => {
    commandOf(event)?.events.push({
      name,
      at: event.createdAt,
      attributes: {
        ...text('noetl.worker', event.workerId ?? event.meta['worker_id']),
        ...number('noetl.attempt', event.meta['attempt']),
        ...text('noetl.reason', event.meta['reason']),
      },
    })
  }

  const idOf = ({ meta }: EventRecord): string =>
    typeof meta['command_id'] === 'string' ? meta['command_id'] : ''

  const commandOf = (event: EventRecord): OpenSpan | undefined => commands.get(idOf(event))

  const endCommand = (event: EventRecord, type: string): readonly Span[] => {
    const span = commandOf(event)
    // A command that waits for an answer from outside is not over.
    if (!span || isPending(event)) return []
    commands.delete(idOf(event))
    const failed = FAILURES.has((event.status ?? '').toLowerCase())
    return [closed(span, event.createdAt, failed ? 'error' : (ENDS[type] ?? 'unset'), event.error)]
  }

  const exit = (event: EventRecord): readonly Span[] => {
    const span = steps.get(event.nodeName ?? '')
    if (!span || event.meta['emitted_by'] !== 'orchestrator') return []
    steps.delete(event.nodeName ?? '')
    return [closed(span, event.createdAt, event.status === 'FAILED' ? 'error' : 'ok', event.error)]
  }

  const openSpans = (): readonly Span[] =>
    [...commands.values(), ...steps.values(), ...(root ? [root] : [])].map((span) =>
      closed(span, lastAt, 'unset', null),
    )

  const end = (event: EventRecord, failed: boolean, completed: boolean): readonly Span[] => {
    if (!root) return []
    const { spanId } = root
    const rest = openSpans().filter((span) => span.spanId !== spanId)
    const outcome = failed ? 'error' : completed ? 'ok' : 'unset'
    const span = closed(root, event.createdAt, outcome, event.error)
    commands.clear()
    steps.clear()
    root = null
    return [...rest, span]
  }

  return {
    sampled: trace.sampled,
    open: openSpans,
    add: (event) => {
      lastAt = event.createdAt
      const type = canonicalEventType(event.eventType)
      const status = terminalStatusOf(event.eventType)
      if (status) return end(event, status === 'FAILED', status === 'COMPLETED')
      if (type in ENDS) return endCommand(event, type)
      if (type === EVENT.callDone || type === EVENT.callError) return endParked(event, type)
      if (type === EVENT.stepExit) return exit(event)
      if (type === EVENT.started || type === EVENT.reopened) start(event)
      else if (type === EVENT.stepEnter) enter(event)
      else if (type === EVENT.commandIssued) issue(event)
      else if (type === EVENT.commandClaimed) note(event, 'claimed')
      else if (type === EVENT.commandReleased) note(event, 'released')
      return []
    },
  }

  /** An answer from outside ends the command that was parked for it; the others report their end themselves. */
  function endParked(event: EventRecord, type: string): readonly Span[] {
    const span = commandOf(event)
    if (!span || !span.events.some(({ name }) => name === 'parked')) return []
    return endCommand(event, type === EVENT.callError ? EVENT.commandFailed : EVENT.commandCompleted)
  }

  function isPending(event: EventRecord): boolean {
    if (event.result?.context?.['pending_callback'] !== true) return false
    note(event, 'parked')
    return true
  }
}

/** The builder for a log, from its first event. */
export const spanBuilderOf = (first: EventRecord): SpanBuilder =>
  createSpanBuilder(first.executionId, traceContextOf(first.executionId, first.meta['trace']))

const text = (name: string, value: unknown): Record<string, AttributeValue> =>
  typeof value === 'string' && value !== '' ? { [name]: value } : {}

const number = (name: string, value: unknown): Record<string, AttributeValue> =>
  typeof value === 'number' ? { [name]: value } : {}
