/** Events from elsewhere, brought into the form of our own and stored. They trigger nothing. */
import type { EventEnvelope } from '../contract/api-internal.ts'
import type { EventRequest } from '../contract/api.ts'
import type { EventResult } from '../contract/event.ts'
import { canonicalEventType, defaultEventStatus, EVENT } from '../contract/event.ts'
import { parseId } from '../contract/ids.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { storableText } from '../lib/exact-json.ts'
import { readCatalogEntry } from '../store/catalog.ts'
import type { ImportedEvent } from '../store/imported-events.ts'
import { importEvents as store } from '../store/imported-events.ts'
import { changesOf } from './changes.ts'
import type { Core } from './core.ts'
import { standingOfImported } from './imported-standing.ts'
import { instantOf } from './instant.ts'
import { toReportInput } from './report-input.ts'

/** Stores events of any number of executions; answers how many of them were new. */
export const importEvents = async (core: Core, events: readonly ImportedEvent[]): Promise<number> => {
  let inserted = 0
  for (const [executionId, group] of Map.groupBy(events, (event) => event.executionId)) {
    const catalogId = group.find((event) => event.catalogId !== null)?.catalogId ?? '0'
    const done = await store(
      core.shards.of(executionId),
      {
        executionId,
        catalogId,
        path: storableText((await pathOf(core, catalogId, group)) ?? ''),
        parentExecutionId: parentOf(group),
        events: group,
      },
      { sealer: core.sealer, standingOf: standingOfImported },
    )
    inserted += done.inserted
    if (done.inserted > 0) {
      changesOf(core).tell(executionId, done.position)
      core.dispatcher.changed(executionId, done.position)
    }
  }
  return inserted
}

const pathOf = async (
  core: Core,
  catalogId: string,
  events: readonly ImportedEvent[],
): Promise<string | null> => {
  const start = events.find((event) => canonicalEventType(event.eventType) === EVENT.started)
  const told = isObject(start?.context) ? start.context['path'] : null
  if (typeof told === 'string') return told
  const entry = catalogId === '0' ? null : await readCatalogEntry(core.shards.cluster, catalogId)
  return entry?.path ?? start?.nodeName ?? null
}

const parentOf = (events: readonly ImportedEvent[]): string | null =>
  events.map((event) => parseId(event.meta['parent_execution_id'])).find((id) => id !== null) ?? null

/** Facts that stand beside `meta` or in it; in it they are found. */
const FACTS = [
  'parent_execution_id',
  'command_id',
  'stage_id',
  'frame_id',
  'aggregate_type',
  'aggregate_id',
  'tenant_id',
  'organization_id',
  'stack_trace',
  'trace_component',
] as const satisfies readonly (keyof EventEnvelope)[]

export const fromEnvelope = (envelope: EventEnvelope, now: string): ImportedEvent => {
  const { meta } = envelope
  const eventType = envelope.event_type ?? ''
  const facts = FACTS.flatMap((key): [string, Json][] => {
    const value = envelope[key]
    return value === undefined || value === null || value === '' ? [] : [[key, value]]
  })
  return {
    executionId: envelope.execution_id ?? '0',
    position: envelope.position ?? 0,
    eventId: envelope.event_id,
    createdAt:
      instantOf(envelope.timestamp, 'timestamp') ?? instantOf(envelope.created_at, 'created_at') ?? now,
    eventType: eventType === '' ? 'unknown' : eventType,
    nodeName: envelope.node_name ?? envelope.node_id ?? null,
    nodeType: envelope.node_type ?? null,
    status: envelope.status ?? null,
    parentEventId: envelope.parent_event_id ?? null,
    workerId: textOf(envelope.worker_id ?? (isObject(meta) ? meta['worker_id'] : null)),
    durationMs: envelope.duration_ms ?? millisecondsOf(envelope.duration ?? null),
    context: envelope.context ?? null,
    result: resultOf(envelope.result ?? null),
    meta: { ...Object.fromEntries(facts), ...metaOf(meta), imported: true },
    error: textOf(envelope.error ?? null),
    catalogId:
      envelope.catalog_id ?? (isObject(meta) ? parseId(meta['catalog_id']) : null) ?? startedFrom(envelope),
  }
}

/** The start says which catalog entry it runs. */
const startedFrom = ({ context }: EventEnvelope): string | null =>
  isObject(context) ? parseId(context['catalog_id']) : null

const millisecondsOf = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1000)

const metaOf = (meta: Json | undefined): JsonObject => {
  if (isObject(meta)) return meta
  return meta === undefined || meta === null ? {} : { value: meta }
}

const resultOf = (result: Json): EventResult | null =>
  isObject(result) ? (result as unknown as EventResult) : null

const textOf = (value: Json | undefined): string | null => {
  if (value === undefined || value === null || value === '') return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A report of a worker as an event; nothing follows from it. */
export const fromReport = (request: EventRequest, core: Core, now: string): ImportedEvent => {
  const report = toReportInput(request)
  const status = report.status ?? defaultEventStatus(report.eventType)
  const { context, reference } = report
  return {
    executionId: request.execution_id,
    position: 0,
    eventId: report.eventId ?? core.nextId(),
    createdAt: report.createdAt ?? now,
    eventType: report.eventType,
    nodeName: report.step,
    nodeType: null,
    status,
    parentEventId: null,
    workerId: report.workerId,
    durationMs: report.durationMs,
    context: null,
    result: {
      status,
      ...(isObject(context) ? { context } : {}),
      ...(reference === null ? {} : { reference }),
    },
    meta: {
      ...report.meta,
      ...(report.commandId === null ? {} : { command_id: report.commandId }),
      imported: true,
    },
    error: null,
    catalogId: parseId(report.meta['catalog_id']),
  }
}
