/** Requests and answers of everything that moves along the history of executions. */
import { z } from 'zod'
import { anyValue, count, textId } from './answer-parts.ts'
import { body, jsonObject, queryFlag, queryText } from './api-body.ts'
import { idSchema } from './ids.ts'

/** As far as positions count. */
const MAX_POSITION = 2 ** 31 - 1

/** A place in the log: by event, by position or by time; the end of the log when none is given. */
const cutoff = {
  as_of_event_id: idSchema('as_of_event_id').optional(),
  as_of_position: z.coerce.number().int().min(1).max(MAX_POSITION).optional(),
  as_of_time: z.iso.datetime({ offset: true }).optional(),
}
export interface Cutoff {
  readonly as_of_event_id?: string | undefined
  readonly as_of_position?: number | undefined
  readonly as_of_time?: string | undefined
}

export const StateQuery = z.object({
  ...cutoff,
  /** Only this step, with its whole data. */
  step: queryText,
  include_secrets: queryFlag(false),
})

export const ExplainQuery = z.object({
  ...cutoff,
  step: z.string({ error: 'step is required' }).min(1),
  run: z.coerce.number().int().min(1).optional(),
})

export const DiffQuery = z.object({ a: idSchema('a'), b: idSchema('b') })

const change = z.object({ path: z.string(), kind: z.string(), a: anyValue, b: anyValue })

const diffSide = z.object({
  execution_id: textId,
  path: z.string().nullable(),
  version: z.number().nullable(),
  status: z.string(),
  error: z.string().nullable(),
  duration_ms: z.number().nullable(),
  origin_execution_id: textId.nullable(),
  steps: count,
})

const diffRun = z.object({
  outcome: z.string(),
  reason: z.string().nullable(),
  duration_ms: z.number().nullable(),
  commands: count,
  released: count,
  next: z.array(z.string()),
  error: z.string().nullable(),
})

export const DiffAnswer = z.object({
  same: z.boolean(),
  same_definition: z
    .boolean()
    .meta({ description: 'Both ran the same definition, whatever the numbers of their versions' }),
  a: diffSide,
  b: diffSide,
  first_difference: z
    .object({ aspect: z.string(), step: z.string().nullable(), run: count.nullable(), text: z.string() })
    .nullable(),
  workload: z.array(change),
  path: z.object({ only_in_a: z.array(z.string()), only_in_b: z.array(z.string()) }),
  steps: z.array(
    z.object({
      step: z.string(),
      run: count,
      differs: z.array(z.string()),
      a: diffRun.nullable(),
      b: diffRun.nullable(),
      input: z.array(change),
      result: z.array(change),
    }),
  ),
  steps_total: count,
  steps_differing: count,
  result: z.array(change),
})
export type DiffAnswer = z.infer<typeof DiffAnswer>

const RerunFrom = z.union(
  [
    z.enum(['start', 'failed']),
    z.object({ step: z.string().min(1), run: z.number().int().min(1).optional() }),
    z.object({ event_id: idSchema('event_id') }),
    z.object({ position: z.number().int().min(1).max(MAX_POSITION) }),
  ],
  { error: "from must be 'start', 'failed', {step}, {event_id} or {position}" },
)

export const RerunRequest = body(
  {
    from: RerunFrom.default('start'),
    path: z.string().nullish(),
    version: z.union([z.number().int().positive(), z.string()]).nullish(),
    catalog_id: idSchema('catalog_id').nullish(),
    /** Laid over the workload of the origin, key by key. */
    payload: jsonObject.nullish(),
    variables: jsonObject.nullish(),
    parent_execution_id: idSchema('parent_execution_id').nullish(),
    execution_pool: z.string().nullish(),
    dedup: z
      .object({
        key: z.string().min(1).max(500),
        window_secs: z.number().int().min(1).max(31_536_000).default(300),
      })
      .nullish(),
  },
  { workload: 'payload' },
)
export type RerunRequest = z.infer<typeof RerunRequest>

export const RerunAnswer = z.object({
  execution_id: textId,
  status: z.enum(['started', 'duplicate']),
  commands_generated: count,
  origin_execution_id: textId,
  origin_event: textId.nullable(),
  catalog_id: textId,
  /** Steps whose results were taken over. */
  kept_steps: z.array(z.string()),
  /** Steps whose results were not, because the playbook has them no more. */
  dropped_steps: z.array(z.string()),
})
export type RerunAnswer = z.infer<typeof RerunAnswer>

export const RetryRequest = body({
  steps: z.array(z.string().min(1)).min(1).nullish(),
  variables: jsonObject.nullish(),
  reason: z.string().nullish(),
})

export const RetryAnswer = z.object({
  execution_id: textId,
  status: z.literal('reopened'),
  steps: z.array(z.string()),
  commands_generated: count,
})
export type RetryAnswer = z.infer<typeof RetryAnswer>

const waits = z.object({
  for: z.enum(['worker', 'report', 'child', 'callback']),
  pool: z.string().optional(),
  worker: z.string().optional(),
  child_execution_id: textId.optional(),
  until: z.string().nullable().optional(),
})

export const StateAnswer = z.object({
  execution_id: textId,
  position: count,
  event_id: textId,
  at: z.string(),
  last_position: count,
  status: z.string(),
  path: z.string(),
  catalog_id: textId,
  version: z.number().nullable(),
  origin: z.object({ execution_id: textId, event_id: textId.nullable(), position: count }).nullable(),
  parent_execution_id: textId.nullable(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  error: z.string().nullable(),
  current_step: z.string().nullable(),
  progress: z.object({
    total_steps: count,
    completed_steps: count,
    running_steps: count,
    failed_steps: count,
  }),
  workload: anyValue,
  variables: anyValue,
  steps: z.array(
    z.object({
      step: z.string(),
      state: z.string(),
      run: count,
      handled: z.boolean(),
      blocked: z.boolean(),
      error: anyValue,
      has_data: z.boolean(),
      data: anyValue.optional(),
      loop: z
        .object({ total: count, issued: count, running: count, done: count, failed: count, window: count })
        .nullable(),
      cursor: z
        .object({
          frame: count,
          rows: count,
          running: count,
          done: count,
          failed: count,
          claiming: z.boolean(),
        })
        .nullable(),
    }),
  ),
  tokens: z.array(z.object({ from: z.string().nullable(), to: z.string() })),
  failures: z.array(z.object({ step: z.string(), error: z.string() })),
  commands: z.array(
    z.object({
      command_id: z.string(),
      event_id: textId,
      step: z.string(),
      run: count,
      index: count.nullable(),
      tool_kind: z.string(),
      attempt: count,
      max_attempts: count,
      waits,
    }),
  ),
  commands_total: count,
})
export type StateAnswer = z.infer<typeof StateAnswer>

const condition = {
  when: z.string().nullable(),
  holds: z.boolean().nullable(),
  values: anyValue,
  problem: z.string().nullable(),
}

export const ExplainAnswer = z.object({
  execution_id: textId,
  position: count,
  step: z.string(),
  run: count.nullable(),
  verdict: z.string(),
  text: z.string(),
  decided_by: z.object({ event_id: textId, position: count, at: z.string() }).nullable(),
  brought_by: z.string().nullable(),
  arcs: z.array(
    z.object({
      from: z.string(),
      from_run: count,
      index: count,
      fired: z.boolean(),
      reason: z.string(),
      position: count,
      event_id: textId,
      evaluated_again: z.boolean(),
      ...condition,
    }),
  ),
  upstreams: z.array(z.object({ step: z.string(), state: z.string(), error: z.string().nullable() })),
  guards: z.array(z.object({ kind: z.string(), evaluated_again: z.boolean(), ...condition })),
  join: z.object({
    arrived: z.array(z.string()),
    missing: z.array(z.object({ from: z.string(), because: z.array(z.string()) })),
  }),
  failed_upstreams: z.array(z.object({ step: z.string(), error: z.string() })),
  waits: z.array(waits.extend({ command_id: z.string(), index: count.nullable() })),
  error: z.string().nullable(),
  policy: z.object({ on_error: z.string(), handled: z.boolean() }),
})
export type ExplainAnswer = z.infer<typeof ExplainAnswer>

export const ExportQuery = z.object({ with_children: queryFlag(false), include_secrets: queryFlag(false) })

export const ImportQuery = z.object({ resume: queryFlag(false) })

export const ImportAnswer = z.object({
  status: z.enum(['imported', 'exists']),
  execution_id: textId,
  executions: z.array(textId),
  events: count,
  results: count,
  /** Present with `resume`: the execution that goes on from it. */
  resumed_as: textId.nullable(),
})
export type ImportAnswer = z.infer<typeof ImportAnswer>

export const DoctorQuery = z.object({
  execution_id: idSchema('execution_id').optional(),
  /** Goes on after this execution. */
  after: idSchema('after').optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
})

export const DoctorAnswer = z.object({
  healthy: z.boolean(),
  checked: count,
  events: count,
  snapshots: count,
  timers: count,
  results: count,
  /** Timers that have nothing left to tell; each goes away at its hour. */
  idle_timers: count,
  /** Stored results of executions that are over that no event refers to. */
  unreferenced_results: count,
  unreferenced_bytes: count,
  /** To be given as `after` for the next page; null when everything was looked at. */
  next: textId.nullable(),
  differences: z.array(
    z.object({
      execution_id: textId,
      kind: z.enum(['row', 'commands', 'snapshot', 'log', 'no_cause', 'timer', 'result']),
      message: z.string(),
      stored: anyValue,
      folded: anyValue,
    }),
  ),
})
export type DoctorAnswer = z.infer<typeof DoctorAnswer>
