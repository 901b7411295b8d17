/** What the internal routes answer. */
import { z } from 'zod'
import { anyObject, anyValue, count, integerId, textId } from './answer-parts.ts'

export const OutboxClaimAnswer = z.object({
  rows: z.array(
    z
      .object({
        outbox_id: integerId,
        event_id: integerId,
        execution_id: integerId.optional(),
        subject: z.string().optional(),
        payload: anyValue,
        payload_codec: z.string(),
        attempts: count,
      })
      .meta({ id: 'OutboxRow' }),
  ),
  claimed: count,
})

export const MarkPublishedAnswer = z.object({ marked: count })

export const MarkFailedAnswer = z.object({
  marked: z.boolean(),
  available_at_in: count.meta({ description: 'Seconds until it is tried again' }),
})

export const PendingCountAnswer = z.object({ pending: count })

export const ProjectAnswer = z.object({ projected: count, duplicates: count })

export const MaterializeAnswer = z.object({ materialized: count, duplicates: count })

export const AdvanceAnswer = z.object({
  advanced: z.array(z.object({ execution_id: integerId, version: count, events: count })),
  failed: z.array(z.object({ execution_id: integerId, error: z.string() })),
})

export const PurgeAnswer = z.object({
  commands_purged: count,
  runtime_purged: count,
  events_purged: count,
  event_partitions_dropped: z.array(z.string()).optional(),
})

export const ContainerCallbackAnswer = z.object({
  status: z.enum(['accepted_in_flight', 'accepted_stale']),
  event_id: textId.optional(),
})

export const PluginAnswer = z.object({
  path: z.string(),
  version: count,
  digest: z.string().meta({ description: 'SHA-256 in hexadecimal' }),
  bytes: count,
})

export const ObjectAnswer = z.object({ key: z.string(), digest: z.string(), bytes: count })

export const ImportedEventsAnswer = z.object({
  execution_id: integerId,
  events: z.array(anyObject).meta({ description: 'In the shape of the events of a log' }),
})
