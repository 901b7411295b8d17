/** Requests of the internal routes: messages for the outside, events from elsewhere, housekeeping, files. */
import { z } from 'zod'
import { EventRequest } from './api.ts'
import { body, jsonObject } from './api-body.ts'
import { documentedAs } from './documented.ts'
import { idSchema } from './ids.ts'
import type { Json } from './json.ts'
import { isObject } from './json.ts'

const MAX_INT = 2 ** 31 - 1

export const OutboxClaimRequest = body({ limit: z.int().default(100) })

export const MarkPublishedRequest = body({ outbox_ids: z.array(idSchema('outbox_ids')).max(100_000) })

export const MarkFailedRequest = body({
  outbox_id: idSchema('outbox_id'),
  error: z.string(),
  attempts: z.int().default(1),
  max_delay_seconds: z.int().min(0).max(MAX_INT).default(300),
})

/** Absent, null and blank are the same. */
const optionalId = (name: string) =>
  z.preprocess((value) => (value === '' ? null : value), idSchema(name).nullish())

const optionalText = z.string().nullish()

const anyJson = z.custom<Json>(() => true).meta({ description: 'Any JSON value' })

/** With an offset or without one, which means UTC; blank is absent. */
const timestamp = documentedAs(
  z
    .string()
    .nullish()
    .transform((text, context): string | null => {
      const given = text?.trim() ?? ''
      if (given === '') return null
      const match = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(\.\d+)?([Zz]|[+-]\d{2}:?\d{2})?$/.exec(
        given,
      )
      if (!match) {
        context.addIssue({ code: 'custom', message: `'${given}' is not a timestamp` })
        return z.NEVER
      }
      const [, date, time, fraction = '', zone = 'Z'] = match
      return `${date}T${time}${fraction.slice(0, 4)}${zone.toUpperCase().replace(/^(.\d{2})(\d{2})$/, '$1:$2')}`
    }),
  { type: ['string', 'null'] },
)

/** Null, or an object of a status, a context and a reference, and nothing else. */
const resultEnvelope = documentedAs(
  z
    .custom<Json>(() => true)
    .superRefine((value, context) => {
      const problem = resultProblem(value)
      if (problem !== null) context.addIssue({ code: 'custom', message: problem })
    }),
  {
    type: ['object', 'null'],
    properties: {
      status: { type: 'string' },
      context: { type: 'object', additionalProperties: true },
      reference: { type: 'object', additionalProperties: true },
    },
    required: ['status'],
    additionalProperties: false,
  },
)

const resultProblem = (value: unknown): string | null => {
  if (value === null || value === undefined) return null
  if (!isObject(value)) return 'must be an object with a status, or null'
  if (typeof value['status'] !== 'string') return 'must have a status, which is text'
  const stray = Object.keys(value).find((key) => !['status', 'context', 'reference'].includes(key))
  if (stray !== undefined) return `may hold status, context and reference only, not '${stray}'`
  for (const key of ['context', 'reference'])
    if (Object.hasOwn(value, key) && !isObject(value[key])) return `${key} must be an object`
  return null
}

/** An event as others publish it. Facts that older senders put beside `meta` belong into it. */
export const EventEnvelope = z.object({
  event_id: idSchema('event_id'),
  execution_id: optionalId('execution_id'),
  parent_event_id: optionalId('parent_event_id'),
  parent_execution_id: optionalId('parent_execution_id'),
  catalog_id: optionalId('catalog_id'),
  position: z.int().min(1).max(MAX_INT).nullish().catch(null),
  event_type: optionalText,
  node_id: optionalText,
  node_name: optionalText,
  node_type: optionalText,
  status: optionalText,
  duration: z.number().nullish(),
  duration_ms: z.number().nullish(),
  timestamp,
  created_at: timestamp,
  context: anyJson.optional(),
  result: resultEnvelope.optional(),
  meta: anyJson.optional(),
  error: anyJson.optional(),
  stack_trace: anyJson.optional(),
  trace_component: anyJson.optional(),
  worker_id: anyJson.optional(),
  command_id: anyJson.optional(),
  stage_id: anyJson.optional(),
  frame_id: anyJson.optional(),
  aggregate_type: anyJson.optional(),
  aggregate_id: anyJson.optional(),
  tenant_id: anyJson.optional(),
  organization_id: anyJson.optional(),
})
export type EventEnvelope = z.infer<typeof EventEnvelope>

export const ProjectRequest = body({ events: z.array(EventEnvelope).max(10_000) })

/** Events as workers report them. Each is checked for itself, so that a problem tells its place. */
export const MaterializeRequest = documentedAs(
  z.array(z.unknown(), { error: 'the body must be a list of events' }).max(10_000),
  z.array(EventRequest).max(10_000),
)

export const AdvanceRequest = body({ execution_ids: z.array(idSchema('execution_ids')).max(1000) })

const days = (fallback: number) => z.int().max(1_000_000).default(fallback)

/** The body may be left out. */
export const PurgeRequest = z.preprocess(
  (value) => value ?? {},
  body({ command_retention_days: days(7), runtime_stale_minutes: days(60), event_retention_days: days(0) }),
)

const CONTAINER_STATES = [
  'succeeded',
  'failed',
  'failed_image_pull',
  'failed_oom',
  'failed_node_lost',
  'failed_timeout',
] as const

export const ContainerCallbackRequest = body({
  state: z.enum(CONTAINER_STATES),
  job_name: z.string(),
  job_uid: optionalText,
  completed_at: optionalText,
  exit_code: z.int().nullish(),
  reason: optionalText,
  stdout_uri: optionalText,
  stderr_uri: optionalText,
  result: jsonObject.nullish(),
})
export type ContainerCallbackRequest = z.infer<typeof ContainerCallbackRequest>

const mediaType = z.string().min(1).max(200).default('application/octet-stream')
const version = z.coerce.number().int().min(0).max(MAX_INT).default(1)

export const PluginUploadQuery = z.object({ version, media_type: mediaType })
export const PluginQuery = z.object({ version, digest: z.string().optional() })
export const ObjectUploadQuery = z.object({ media_type: mediaType })
