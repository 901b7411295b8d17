/** Request bodies of the API: one schema and one type of the same name each. Unknown keys are ignored. */
import { z } from 'zod'
import { body, jsonObject } from './api-body.ts'
import { idSchema } from './ids.ts'
import type { Json } from './json.ts'

/** Any JSON value, or none. */
const json = z.custom<Json>(() => true)

export const RegisterRequest = body({
  content: z.string({ error: "'content' must be the YAML text of the playbook" }),
  resource_type: z.string().default('Playbook'),
})

export const CatalogListRequest = body({ resource_type: z.string().nullish() })

export const CatalogResourceRequest = body({
  catalog_id: z.union([z.string(), z.number()]).nullish(),
  path: z.string().nullish(),
  version: z.union([z.string(), z.number()]).nullish(),
})

export const ExecuteRequest = body(
  {
    path: z.string().nullish(),
    catalog_id: idSchema('catalog_id').nullish(),
    version: z.union([z.number().int().positive(), z.string()]).nullish(),
    payload: jsonObject.optional(),
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
)
export type ExecuteRequest = z.infer<typeof ExecuteRequest>

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
    event_id: idSchema('event_id').nullish(),
    status: z.string().nullish(),
    created_at: z.iso.datetime({ offset: true }).nullish(),
    lease_token: z.union([z.string(), z.number()]).nullish(),
    duration_ms: z.number().nullish(),
  },
  { name: 'event_type', context: 'payload', node_name: 'step' },
)
export type EventRequest = z.infer<typeof EventRequest>

export const BatchRequest = body({
  execution_id: z.unknown(),
  worker_id: z.string().nullish(),
  events: z.array(z.unknown()).max(10_000, { error: 'at most 10000 events in one batch' }),
})

export const BatchItem = body(
  {
    step: z.string(),
    event_type: z.string().min(1),
    payload: json.optional(),
    meta: jsonObject.nullish(),
    status: z.string().nullish(),
    event_id: idSchema('event_id').nullish(),
    lease_token: z.union([z.string(), z.number()]).nullish(),
    duration_ms: z.number().nullish(),
    actionable: z.boolean().default(false),
    informative: z.boolean().default(true),
  },
  { name: 'event_type', context: 'payload', node_name: 'step' },
)

export const ClaimRequest = body({ worker_id: z.string().min(1) })

export const LeaseRequest = body({
  worker_id: z.string().min(1),
  pool: z.string().min(1).default('shared'),
  max: z.number().int().min(1).max(1000).default(1),
  wait_ms: z.number().int().min(0).max(60_000).default(0),
})

const LeaseToken = z.union([z.string(), z.number()]).transform(String)

export const HeartbeatRequest = body({ worker_id: z.string().min(1), lease_token: LeaseToken })

export const LeaseListRequest = body({
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
})

export const CancelRequest = body({ reason: z.string().nullish(), cascade: z.boolean().nullish() })

export const FinalizeRequest = body({ status: z.string(), error: z.string().nullish() })
