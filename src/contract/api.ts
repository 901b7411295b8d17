/** Request bodies of the API: one schema and one type of the same name each. Unknown keys are ignored. */
import { z } from 'zod'
import { body, jsonObject } from './api-body.ts'
import { documentedAs } from './documented.ts'
import { idSchema } from './ids.ts'
import type { Json } from './json.ts'

/** Any JSON value, or none. */
const json = z.custom<Json>(() => true).meta({ description: 'Any JSON value' })

export const ExecuteRequest = body(
  {
    path: z.string().nullish(),
    catalog_id: idSchema('catalog_id').nullish(),
    version: z.union([z.number().int().positive(), z.string()]).nullish(),
    payload: jsonObject.optional(),
    args: jsonObject.nullish().meta({ description: 'Taken for the payload when there is none' }),
    parent_execution_id: idSchema('parent_execution_id').nullish(),
    execution_pool: z.string().nullish(),
    trace: json.optional(),
    dedup: z
      .object({
        key: z.string().min(1).max(500),
        window_secs: z.number().int().min(1).max(31_536_000).default(300),
      })
      .nullish(),
  },
  { workload: 'payload' },
).meta({ anyOf: [{ required: ['path'] }, { required: ['catalog_id'] }] })
export type ExecuteRequest = z.infer<typeof ExecuteRequest>

const NO_EXECUTIONS = "execute batch requires a non-empty 'executions' array"

/** Each item is checked for itself, so that one that is wrong does not refuse the others. */
export const ExecuteBatchRequest = z.object({
  executions: documentedAs(
    z.array(z.unknown(), { error: NO_EXECUTIONS }).min(1, { error: NO_EXECUTIONS }),
    z.array(ExecuteRequest).min(1).max(1000),
  ),
})

export const EventRequest = body(
  {
    execution_id: idSchema('execution_id'),
    step: z.string(),
    event_type: z.string().min(1),
    payload: json.optional(),
    meta: jsonObject.nullish(),
    worker_id: z.string().nullish(),
    result_kind: z.enum(['data', 'ref', 'refs']).nullish(),
    result_uri: z.string().nullish(),
    event_ids: z.array(idSchema('event_ids')).nullish(),
    actionable: z.boolean().default(true),
    informative: z.boolean().default(true),
    event_id: idSchema('event_id', { showsValue: true }).nullish(),
    status: z.string().nullish(),
    created_at: z.iso.datetime({ offset: true }).nullish(),
    lease_token: z.union([z.string(), z.number()]).nullish(),
    duration_ms: z.number().nullish(),
  },
  { name: 'event_type', context: 'payload', node_name: 'step' },
)
export type EventRequest = z.infer<typeof EventRequest>

export const BatchItem = body(
  {
    step: z.string(),
    event_type: z.string().min(1),
    payload: json.optional(),
    meta: jsonObject.nullish(),
    status: z.string().nullish(),
    event_id: idSchema('event_id', { showsValue: true }).nullish(),
    lease_token: z.union([z.string(), z.number()]).nullish(),
    duration_ms: z.number().nullish(),
    actionable: z.boolean().default(false),
    informative: z.boolean().default(true),
  },
  { name: 'event_type', context: 'payload', node_name: 'step' },
)

export const BatchRequest = body({
  // Both are checked by the route: an empty batch is fine before anything else is looked at.
  execution_id: documentedAs(z.unknown(), idSchema('execution_id')),
  worker_id: z.string().nullish(),
  events: documentedAs(
    z.array(z.unknown()).max(10_000, { error: 'at most 10000 events in one batch' }),
    z.array(BatchItem).max(10_000),
  ),
})

export const ClaimRequest = body({ worker_id: z.string().min(1) })

export const LeaseRequest = body({
  worker_id: z.string().min(1),
  pool: z.string().min(1).default('shared'),
  capabilities: z.array(z.string().min(1)).max(1000).default([]),
  max: z.number().int().min(1).max(1000).default(1),
  wait_ms: z.number().int().min(0).max(60_000).default(0),
})

const LeaseToken = z.union([z.string(), z.number()]).transform(String)

export const HeartbeatRequest = body({ worker_id: z.string().min(1), lease_token: LeaseToken })

const leaseList = {
  worker_id: z.string().min(1),
  leases: z
    .array(
      z.object({
        execution_id: idSchema('execution_id'),
        event_id: idSchema('event_id'),
        lease_token: LeaseToken,
      }),
    )
    .max(10_000),
}

export const LeaseListRequest = body(leaseList)

export const HeartbeatListRequest = body({
  ...leaseList,
  wait_ms: z
    .number()
    .int()
    .min(0)
    .max(60_000)
    .default(0)
    .meta({ description: 'How long the answer may wait for one of the commands to be cancelled' }),
})
