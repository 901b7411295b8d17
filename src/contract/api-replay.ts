/** The request and the answer of a replay. What is wrong in the query of a replay is a bad request (400). */
import { z } from 'zod'
import { parseId } from './ids.ts'
import { ProblemError } from './problem.ts'

const bad = (message: string): ProblemError => new ProblemError('bad_request', message)

/** As many events as are folded unless another number is asked for. */
export const DEFAULT_REPLAY_LIMIT = 10_000
const MAX_LIMIT = 100_000
const MAX_POSITION = 2 ** 31 - 1

const integer = (name: string, text: string): bigint => {
  const id = parseId(text)
  if (id === null) throw bad(`Invalid ${name}: '${text}' is not a 64-bit integer`)
  return BigInt(id)
}

const optionalId = (name: string) =>
  z
    .string()
    .optional()
    .transform((text) => (text === undefined ? null : integer(name, text).toString()))

/** Cut to a range of positions; everything below or above means the same. */
const optionalPosition = (name: string) =>
  z
    .string()
    .optional()
    .transform((text) => {
      if (text === undefined) return null
      const position = integer(name, text)
      return Number(position < 0n ? 0n : position > MAX_POSITION ? BigInt(MAX_POSITION) : position)
    })

const INSTANT = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/

/** A plus sign that nobody encoded arrives as a blank. */
const instant = z
  .string()
  .optional()
  .transform((given) => {
    if (given === undefined) return null
    const text = given.replace(/ (\d\d:\d\d)$/, '+$1')
    if (!INSTANT.test(text) || !z.iso.datetime({ offset: true }).safeParse(normalised(text)).success)
      throw bad(`Invalid as_of_time: '${given}' is not an RFC 3339 instant such as 2026-01-31T12:00:00Z`)
    return text
  })

const normalised = (text: string): string => text.replace(/[t ]/, 'T').replace('z', 'Z')

/** Null when it was not given. */
const limit = z
  .string()
  .optional()
  .transform((text) => {
    if (text === undefined) return null
    if (text === 'all') return Number.POSITIVE_INFINITY
    const count = integer('limit', text)
    return Number(count < 1n ? 1n : count > MAX_LIMIT ? BigInt(MAX_LIMIT) : count)
  })

const flag = z
  .string()
  .optional()
  .transform((text) => {
    if (text === undefined || text === 'false') return false
    if (text === 'true') return true
    throw bad(`Invalid resolve_payloads: '${text}' is neither true nor false`)
  })

export const ReplayQuery = z.object({
  execution_id: z
    .string()
    .optional()
    .transform((text) => {
      if (text === undefined) throw bad('execution_id is required')
      return integer('execution_id', text).toString()
    }),
  tenant_id: z.string().default('default'),
  organization_id: z.string().default('default'),
  as_of_event_id: optionalId('as_of_event_id'),
  as_of_position: optionalId('as_of_position'),
  as_of_time: instant,
  as_of_sequence: optionalPosition('as_of_sequence'),
  projection: z.string().default('all'),
  limit,
  resolve_payloads: flag,
})
export type ReplayQuery = z.infer<typeof ReplayQuery>

const Id = z.union([z.int(), z.string()])
const Checksum = z.object({ type: z.literal('sha256'), value: z.string() })
const Records = z.record(z.string(), z.record(z.string(), z.unknown()))

export const ReplayAnswer = z.object({
  tenant_id: z.string(),
  organization_id: z.string(),
  execution_id: Id,
  projection: z.string(),
  event_count: z.int(),
  last_event_id: Id.optional(),
  last_event_type: z.string().optional(),
  execution: z.object({
    status: z.string(),
    last_node_name: z.string().optional(),
    payload_refs: z.array(z.object({ event_id: Id, reference: z.unknown(), summary: z.object({}).loose() })),
  }),
  stages: Records,
  frames: Records,
  commands: Records,
  business_objects: Records,
  loops: Records,
  checksum: Checksum,
  projection_checksums: z.record(z.string(), Checksum),
  digest: z.object({ algorithm: z.string(), value: z.string() }),
  truncated: z.boolean(),
  next_event_id: Id.optional(),
  last_position: z.int(),
  applied_from_snapshot: z.object({ last_event_id: Id, event_count: z.int() }).nullable(),
  payload_resolution: z.array(z.object({}).loose()).optional(),
  payload_resolution_summary: z.object({}).loose().optional(),
})
