/** Requests of processes that announce themselves: worker pools, servers, brokers. */
import { z } from 'zod'
import { anyJson, body, jsonObject, nameText, queryText } from './api-body.ts'

const RUNTIME_KINDS = ['worker_pool', 'server_api', 'broker'] as const
export type RuntimeKind = (typeof RUNTIME_KINDS)[number]

const Kind = z
  .string({ error: 'must be text' })
  .refine((kind): kind is RuntimeKind => RUNTIME_KINDS.includes(kind as RuntimeKind), {
    error: (issue) => `Invalid kind: ${String(issue.input)}. Expected ${RUNTIME_KINDS.join(', ')}`,
  })
  .meta({ enum: [...RUNTIME_KINDS] })
  .default('worker_pool')

const MAX_CAPACITY = 2 ** 31 - 1
const ALIASES = { component_type: 'kind' }

export const RegisterRuntimeRequest = body(
  {
    name: nameText,
    kind: Kind,
    uri: z.string().max(2000).nullish(),
    status: z.string().trim().min(1).max(100).default('active'),
    labels: anyJson.optional(),
    capabilities: anyJson.optional(),
    capacity: z.number().int().min(0).max(MAX_CAPACITY).nullish(),
    runtime: anyJson.optional(),
  },
  { ...ALIASES, base_url: 'uri' },
)
export type RegisterRuntimeRequest = z.infer<typeof RegisterRuntimeRequest>

/** A heartbeat may bring the whole registration along, so that a row that was lost can be made again. */
export const HeartbeatRuntimeRequest = body(
  { name: nameText, kind: Kind, registration: jsonObject.nullish() },
  ALIASES,
)

export const DeregisterRuntimeRequest = body({ name: nameText, kind: Kind }, ALIASES)

export type DeregisterRuntimeRequest = z.infer<typeof DeregisterRuntimeRequest>

export const RuntimeListQuery = z.object({ kind: Kind, status: queryText, name: queryText })
