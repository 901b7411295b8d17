/**
 * The append of a server that tells the outside has a part more: it writes a message per event and a notification per
 * command that waits. A server that tells nobody pays nothing for this.
 *
 * 1. Messages are written with what they speak of, or not at all.
 * 2. Payloads are as readable as stored events: sensitive values are replaced.
 * 3. A command that waits again is notified again, as a new message.
 * 4. Subjects are made of words that NATS takes, whatever clients call their events and pools.
 */
import type { EventRecord } from '../contract/event.ts'
import type { Json } from '../contract/json.ts'
import { redact } from '../contract/sensitive.ts'
import { rawInteger, storableJson } from '../lib/exact-json.ts'
import type { AppendPart } from './append-parts.ts'
import type { Append } from './append.ts'

export interface Mirror {
  /** Where workers that hear of a command find this server. */
  serverUrl(): string
  /** Pools that are nobody's business outside. */
  isLocal(pool: string): boolean
}

/** The part of the append that writes the messages. */
export const mirrorPart = (mirror: Mirror): AppendPart => ({
  name: 'told',
  letter: 'm',
  sql: (parameter) => `told as (
  select o.* from json_to_recordset($${parameter}::json) as o(i bigint, e bigint, s text, p json, u text)
  join won on won.execution_id = o.i
), messages as (
  insert into noetl.outbox (execution_id, event_id, subject, payload)
  select i, e, s, p from told where s is not null
  on conflict do nothing
), repeats as (
  -- These commands were issued before: their rows tell the rest.
  insert into noetl.outbox (execution_id, event_id, subject, payload)
  select k.execution_id, k.event_id,
    'noetl.commands.' || regexp_replace(k.pool, '[^A-Za-z0-9_-]', '_', 'g') || '.' || k.execution_id,
    json_strip_nulls(json_build_object('execution_id', k.execution_id, 'event_id', k.event_id, 'command_id', k.command_id,
      'step', k.step, 'server_url', told.u, 'trace', (
        select e.meta -> 'trace' from noetl.event e where e.execution_id = k.execution_id and e.position = k.position)))
  from told join noetl.command k on k.event_id = told.e
  where told.s is null
  on conflict on constraint outbox_message do update
  set outbox_id = default, status = 'PENDING', attempts = 0, available_at = now(), locked_at = null, published_at = null,
    last_error = null, updated_at = now()
)`,
  parameters: (appends) => [storableJson(appends.flatMap((append) => messagesOf(append, mirror)))],
})

const messagesOf = (append: Append, mirror: Mirror): readonly object[] => {
  const { execution, events, commands, changes } = append
  const url = mirror.serverUrl()
  const issued = new Map(events.map((event) => [event.eventId, event]))
  return [
    ...events.map((event) => ({
      i: event.executionId,
      e: event.eventId,
      s: `noetl.events.${subjectWords(event.eventType)}`,
      p: eventEnvelope(event, execution.catalogId),
    })),
    ...commands
      .filter(({ status, pool }) => status === 'PENDING' && !mirror.isLocal(pool))
      .map(({ executionId, eventId, commandId, step, pool }) => ({
        i: executionId,
        e: eventId,
        s: `noetl.commands.${subjectWord(pool)}.${executionId}`,
        p: {
          execution_id: rawInteger(executionId),
          event_id: rawInteger(eventId),
          command_id: commandId,
          step,
          server_url: url,
          ...traceOf(issued.get(eventId)),
        },
      })),
    ...changes
      .filter(({ status }) => status === 'PENDING')
      .map(({ executionId, eventId }) => ({ i: executionId, e: eventId, u: url })),
  ]
}

const traceOf = (issued: EventRecord | undefined): { trace?: Json } => {
  const trace = issued?.meta['trace']
  return trace === undefined ? {} : { trace: redact(trace) }
}

/** An event as others take it, and as it is taken back. */
const eventEnvelope = (event: EventRecord, catalogId: string) => ({
  event_id: rawInteger(event.eventId),
  execution_id: rawInteger(event.executionId),
  position: event.position,
  catalog_id: rawInteger(catalogId),
  parent_event_id: event.parentEventId === null ? null : rawInteger(event.parentEventId),
  event_type: event.eventType,
  node_id: event.nodeName,
  node_name: event.nodeName,
  node_type: event.nodeType,
  status: event.status,
  duration: event.durationMs === null ? null : event.durationMs / 1000,
  duration_ms: event.durationMs,
  timestamp: event.createdAt,
  worker_id: event.workerId,
  context: redact(event.context),
  result: event.result === null ? null : redact(event.result as unknown as Json),
  meta: redact(event.meta),
  error: redact(event.error),
})

const subjectWord = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]/g, '_')

/** Dots separate words; there is always one. */
const subjectWords = (text: string): string =>
  text
    .split('.')
    .filter((word) => word !== '')
    .map(subjectWord)
    .join('.') || '_'
