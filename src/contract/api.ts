/** Request bodies of the API: one schema and one type of the same name each. Unknown keys are ignored. */
import { z } from 'zod'
import { idSchema } from './ids.ts'
import type { Json, JsonObject } from './json.ts'

const json = z.custom<Json>(() => true)
const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  {
    error: 'must be an object',
  },
)

/** Accepts a second spelling of a key; giving both is an error. */
const withAliases =
  (aliases: Readonly<Record<string, string>>) => (body: unknown, context: z.RefinementCtx) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      context.addIssue({ code: 'custom', message: 'the body must be a JSON object' })
      return z.NEVER
    }
    const copy: Record<string, unknown> = { ...body }
    for (const [alias, name] of Object.entries(aliases)) {
      if (!Object.hasOwn(copy, alias)) continue
      if (Object.hasOwn(copy, name)) {
        context.addIssue({
          code: 'custom',
          message: `'${name}' and its other name '${alias}' are both given; send one`,
        })
        return z.NEVER
      }
      copy[name] = copy[alias]
    }
    return copy
  }

const object = <S extends z.ZodRawShape>(shape: S, aliases: Readonly<Record<string, string>> = {}) =>
  z.unknown().transform(withAliases(aliases)).pipe(z.object(shape))

export const RegisterRequest = object({
  content: z.string({ error: "'content' must be the YAML text of the playbook" }),
  resource_type: z.string().default('Playbook'),
})

export const CatalogListRequest = object({ resource_type: z.string().nullish() })

export const CatalogResourceRequest = object({
  catalog_id: z.union([z.string(), z.number()]).nullish(),
  path: z.string().nullish(),
  version: z.union([z.string(), z.number()]).nullish(),
})

export const ExecuteRequest = object(
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

export const EventRequest = object(
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

export const BatchRequest = object({
  execution_id: z.unknown(),
  worker_id: z.string().nullish(),
  events: z.array(z.unknown()).max(10_000, { error: 'at most 10000 events in one batch' }),
})

export const BatchItem = object(
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

export const ClaimRequest = object({ worker_id: z.string().min(1) })

export const LeaseRequest = object({
  worker_id: z.string().min(1),
  pool: z.string().min(1).default('shared'),
  max: z.number().int().min(1).max(1000).default(1),
  wait_ms: z.number().int().min(0).max(60_000).default(0),
})

const LeaseToken = z.union([z.string(), z.number()]).transform(String)

export const HeartbeatRequest = object({ worker_id: z.string().min(1), lease_token: LeaseToken })

export const LeaseListRequest = object({
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

export const CancelRequest = object({ reason: z.string().nullish(), cascade: z.boolean().nullish() })

export const FinalizeRequest = object({ status: z.string(), error: z.string().nullish() })
