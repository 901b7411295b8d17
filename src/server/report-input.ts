/** Events of clients, as the engine takes them. */
import type { EventRequest } from '../contract/api.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import type { ReportInput } from '../engine/input.ts'
import { namedCommand } from '../engine/report.ts'
import { instantOf } from './instant.ts'

type ClientEvent = Omit<Partial<EventRequest>, 'execution_id'> &
  Pick<EventRequest, 'step' | 'event_type' | 'actionable' | 'informative'>

export const toReportInput = (event: ClientEvent): ReportInput => {
  // The token proves the holder of the lease; it is no fact of the execution and is not recorded.
  const { lease_token: metaToken, ...given }: JsonObject = event.meta ?? {}
  const context: Json = event.payload ?? null
  const token = event.lease_token ?? metaToken ?? null
  return {
    type: 'report',
    eventType: event.event_type,
    step: event.step,
    commandId: namedCommand(context, given),
    leaseToken: token === null || typeof token === 'string' ? token : JSON.stringify(token),
    workerId: event.worker_id ?? null,
    eventId: event.event_id ?? null,
    status: event.status ?? null,
    context,
    reference: referenceOf(event),
    meta: {
      ...given,
      actionable: event.actionable,
      informative: event.informative,
      ...(event.worker_id ? { worker_id: event.worker_id } : {}),
    },
    createdAt: instantOf(event.created_at ?? null, 'created_at'),
    durationMs: event.duration_ms ?? null,
  }
}

const referenceOf = (event: ClientEvent): JsonObject | null => {
  if (event.result_kind === 'ref' && event.result_uri)
    return { store_tier: tierOf(event.result_uri), logical_uri: event.result_uri }
  if (event.result_kind === 'refs' && event.event_ids)
    return { event_ids: event.event_ids, total_parts: event.event_ids.length }
  return null
}

const tierOf = (uri: string): string => {
  if (uri.startsWith('gs://')) return 'gcs'
  return uri.startsWith('s3://') ? 's3' : 'artifact'
}
