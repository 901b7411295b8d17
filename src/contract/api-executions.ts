/** Requests and answers about executions. */
import { z } from 'zod'
import { anyObject, anyValue, count, instant, integerId, textId } from './answer-parts.ts'
import { body, queryFlag, queryText } from './api-body.ts'
import { idSchema } from './ids.ts'

/** Executions on one page at most; a request for more gets this many. */
const MAX_LISTED = 100
/** A page further away than this is reached with a cursor. */
const MAX_OFFSET = 100_000
/** As far as positions count. */
const MAX_POSITION = 2 ** 31 - 1
/** The newest events that an execution shows when nothing else is asked for. */
export const NEWEST_EVENTS = 2000
const MAX_EVENTS = 5000

const STATUSES = ['RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const
const status = z.enum(STATUSES)

const whole = (least: number, most: number) => z.coerce.number().int().min(least).max(most)

const moment = z.iso.datetime({ offset: true, error: 'must be an instant such as 2026-01-31T12:00:00Z' })

export const ExecutionListQuery = z
  .object({
    status: z
      .string()
      .transform((word) => word.toUpperCase())
      .pipe(status)
      .optional(),
    catalog_id: idSchema('catalog_id').optional(),
    parent_execution_id: idSchema('parent_execution_id').optional(),
    path: queryText.meta({ description: 'Part of the path, in any case' }),
    search: queryText.meta({ description: 'The beginning of an id, or part of a path' }),
    started_after: moment.optional(),
    started_before: moment.optional(),
    cursor: idSchema('cursor')
      .optional()
      .meta({ description: 'What `x-next-cursor` of the page before said' }),
    limit: z.coerce.number().int().min(0).default(50),
    offset: whole(0, MAX_OFFSET).optional(),
    page: whole(1, MAX_OFFSET).optional(),
    page_size: z.coerce.number().int().min(1).optional(),
  })
  .transform((query, context) => {
    const { page, page_size, offset, limit, cursor, ...filter } = query
    const ways = [page ?? page_size, offset, cursor].filter((way) => way !== undefined)
    if (ways.length > 1) {
      context.addIssue({ code: 'custom', message: 'send one of cursor, offset and page, not several' })
      return z.NEVER
    }
    const size = Math.min(page_size ?? limit, MAX_LISTED)
    const skipped = page === undefined ? (offset ?? 0) : (page - 1) * size
    if (skipped > MAX_OFFSET) {
      context.addIssue({
        code: 'custom',
        message: `page ${page} is more than ${MAX_OFFSET} executions away; page on with cursor`,
      })
      return z.NEVER
    }
    return { ...filter, cursor: cursor ?? null, limit: size, offset: skipped }
  })

const types = z
  .string()
  .max(1000)
  .optional()
  .transform((text) =>
    text
      ?.split(',')
      .map((type) => type.trim())
      .filter((type) => type !== ''),
  )
  .transform((list) => (list === undefined || list.length === 0 ? null : list))
  .meta({ description: 'Only these types, separated by commas' })

const paging = {
  page: whole(1, MAX_POSITION).optional(),
  page_size: whole(1, MAX_EVENTS).optional(),
  since_event_id: idSchema('since_event_id')
    .optional()
    .meta({ description: 'Events that came after this one' }),
  event_type: types,
}

export const ExecutionDetailQuery = z.object({ ...paging, include_events: queryFlag(true) })

export const EventsQuery = z
  .object({
    ...paging,
    after: whole(0, MAX_POSITION).optional().meta({ description: 'A position; events behind it' }),
    before: whole(0, MAX_POSITION).optional().meta({ description: 'A position; events in front of it' }),
    limit: whole(1, MAX_EVENTS).default(500),
    order: z.enum(['asc', 'desc']).default('asc').meta({ description: '`desc`: newest first' }),
  })
  .refine(
    ({ page, page_size, after, before }) =>
      (page ?? page_size) === undefined || (after ?? before) === undefined,
    { error: 'send either page and page_size, or after and before' },
  )

export const ExecutionResultQuery = z.object({
  step: z.string().optional(),
  include_secrets: queryFlag(false),
  wait_ms: whole(0, 60_000).default(0),
})

export const CancelRequest = body({ reason: z.string().nullish(), cascade: z.boolean().nullish() })

export const FinalizeRequest = body({
  status: z
    .string()
    .optional()
    .meta({ description: 'COMPLETED or FAILED; FAILED when only a reason is given' }),
  error: z.string().nullish(),
  reason: z.string().nullish(),
}).refine(({ status: word, reason }) => word !== undefined || typeof reason === 'string', {
  error: 'status must be COMPLETED or FAILED',
})

/** A year. */
const MAX_MINUTES = 525_600

export const CleanupRequest = body({
  older_than_minutes: z.int().min(1).max(MAX_MINUTES).default(5),
  dry_run: z.boolean().default(false),
  limit: z.int().min(1).max(10_000).default(1000),
})

const words = z.string().meta({ description: 'For people, such as `2m 5s`' })

const summary = {
  execution_id: integerId,
  catalog_id: integerId,
  path: z.string().nullable(),
  version: z.int().nullable(),
  status,
  started_at: instant,
  completed_at: instant.nullable(),
  start_time: instant,
  end_time: instant.nullable(),
  duration_seconds: z.number(),
  duration_human: words,
  progress: z.int().min(0).max(100),
  event_count: count,
  parent_execution_id: integerId.nullable(),
  origin_execution_id: integerId.nullable().meta({ description: 'The execution this one is a rerun of' }),
  origin_event: integerId.nullable().meta({ description: 'The last event that was taken over from it' }),
  current_step: z.string().nullable(),
  error: z.string().nullable(),
}

export const ExecutionList = z.array(z.object(summary))

const EventAnswer = z.object({
  event_id: integerId,
  position: count,
  event_type: z.string(),
  node_name: z.string().nullable(),
  node_type: z.string().nullable(),
  status: z.string(),
  created_at: instant,
  worker_id: z.string().nullable(),
  duration_ms: z.number().nullable(),
  context: anyValue,
  result: anyValue,
  meta: anyObject,
  error: z.string().nullable(),
})

const Pagination = z.object({
  page: count,
  page_size: count,
  total_events: count,
  total_pages: count,
  has_next: z.boolean().meta({ description: 'There are older events' }),
  has_prev: z.boolean().meta({ description: 'There are newer events' }),
  truncated: z.boolean().meta({ description: 'Only the newest events were looked through' }),
})

export const ExecutionDetailAnswer = z.object({
  ...summary,
  workload: anyValue,
  events: z.array(EventAnswer),
  pagination: Pagination,
  events_endpoint: z.string(),
})

export const EventsAnswer = z.object({
  execution_id: integerId,
  events: z.array(EventAnswer),
  last_position: count,
  next_after: count.nullable().meta({ description: 'Where to go on; null when there is no more' }),
  next_before: count
    .nullable()
    .meta({ description: 'Where to go on, newest first; null when there is no more' }),
  pagination: Pagination.nullable().meta({ description: 'Only there when a page was asked for' }),
})

export const ExecutionStatusAnswer = z.object({
  execution_id: integerId,
  status,
  current_step: z.string().nullable(),
  progress: z.object({
    total_steps: count,
    completed_steps: count,
    running_steps: count,
    failed_steps: count,
  }),
  is_cancelled: z.boolean(),
  completed: z.boolean(),
  failed: z.boolean(),
  completion_inferred: z.boolean(),
  completed_steps: z
    .array(z.string())
    .meta({ description: `Names of steps that ended well, of the newest ${NEWEST_EVENTS} events` }),
  variables: anyObject.meta({ description: 'What the API set; sensitive values are replaced' }),
  path: z.string().nullable(),
  start_time: instant,
  end_time: instant.nullable(),
  duration_seconds: z.number(),
  duration_human: words,
  error: z.string().nullable(),
})

export const CancellationCheckAnswer = z.object({
  execution_id: integerId,
  is_cancelled: z.boolean(),
  status: status.nullable(),
  event_type: z.string().nullable(),
  cancelled: z.boolean(),
  completed: z.boolean(),
  failed: z.boolean(),
})

export const ExecutionResultAnswer = z.object({
  execution_id: integerId,
  status,
  path: z.string(),
  data: anyValue,
  error: z.string().nullable(),
})

export const CancelAnswer = z.object({
  execution_id: integerId,
  status: z.literal('cancelled'),
  message: z.string(),
  cancelled_executions: z.array(textId),
})

export const FinalizeAnswer = z.object({ execution_id: integerId, status, message: z.string() })

export const CleanupAnswer = z.object({
  cancelled_count: count,
  execution_ids: z.array(textId),
  message: z.string(),
  dry_run: z.boolean(),
  more: z.boolean().meta({ description: 'There are more of them; ask again' }),
})

const counters = {
  total_executions: count,
  successful_executions: count,
  failed_executions: count,
  cancelled_executions: count,
  running_executions: count,
  total_playbooks: count,
  total_workers: count,
}

export const DashboardStats = z.object({
  status: z.literal('ok'),
  stats: z.object(counters),
  ...counters,
  active_workflows: count,
  estimated: z.boolean(),
})

export const DashboardWidgets = z.object({
  status: z.literal('ok'),
  widgets: z.array(
    z.object({
      id: z.string(),
      type: z.enum(['chart', 'table']),
      title: z.string(),
      data: z.array(anyObject),
      config: anyObject,
    }),
  ),
})
