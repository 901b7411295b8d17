/** Requests of the result store. */
import { z } from 'zod'
import { documentedAs } from './documented.ts'
import { anyJson, body, nameText, queryFlag, queryText } from './api-body.ts'
import { parseId } from './ids.ts'

const RESULT_SCOPES = ['step', 'execution', 'workflow', 'permanent'] as const
export type ResultScope = (typeof RESULT_SCOPES)[number]

const Scope = z
  .string({ error: 'must be text' })
  .refine((scope): scope is ResultScope => RESULT_SCOPES.includes(scope as ResultScope), {
    error: (issue) => `Invalid scope: ${String(issue.input)}. Use: ${RESULT_SCOPES.join(', ')}`,
  })
  .meta({ enum: [...RESULT_SCOPES] })

const SECONDS: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
  y: 31_536_000,
}
const FOREVER = ['forever', 'permanent', '-1', '']
const A_CENTURY_S = 100 * 31_536_000

/** Seconds, or null for ever; undefined when the text is no duration. */
const parseTtl = (ttl: string | number): number | null | undefined => {
  const text = String(ttl).trim().toLowerCase()
  if (FOREVER.includes(text)) return null
  const [, digits, unit = 's'] = /^(\d{1,10})([smhdwy])?$/.exec(text) ?? []
  if (digits === undefined) return undefined
  const seconds = Number(digits) * (SECONDS[unit] ?? 1)
  return seconds <= A_CENTURY_S ? seconds : null
}

/** `30m`, `1h`, `2d`, `forever`, or a number of seconds. */
const Ttl = documentedAs(
  z.union([z.string(), z.number()]).transform((ttl, context) => {
    const seconds = parseTtl(ttl)
    if (seconds !== undefined) return seconds
    context.addIssue({
      code: 'custom',
      message: `Invalid ttl: '${ttl}'. Use 30m, 1h, 2d, forever or a number of seconds`,
    })
    return z.NEVER
  }),
  {
    type: ['string', 'number'],
    description: 'How long it is kept: `30m`, `1h`, `2d`, `forever`, or a number of seconds',
    examples: ['30m', 3600],
  },
)

/** What a client says about where and how to keep a result is accepted and ignored: there is one store. */
export const PutResultRequest = body({
  name: nameText,
  data: anyJson,
  scope: Scope.nullish().transform((scope): ResultScope => scope ?? 'execution'),
  source_step: z.string().nullish(),
  ttl: Ttl.nullish(),
  media_type: z.string().min(1).max(200).nullish(),
  /** The stable name of the result, made by whoever stores it. */
  uri: z.string().max(2000).nullish(),
})
export type PutResultRequest = z.infer<typeof PutResultRequest>

export const ResultListQuery = z.object({
  scope: Scope.optional(),
  step_name: queryText,
  limit: z.coerce.number().int().min(1).max(10_000).default(1000),
})

export const ResultOfStepQuery = z.object({ resolve: queryFlag(true) })

export const ResultDeleteQuery = z.object({ scope: Scope.default('execution') })

export const ResolveQuery = z.object({
  ref: z.string({ error: 'ref is required' }).min(1, { error: 'ref is required' }),
})

const reference = z.union([z.string(), z.object({ ref: z.string() }).transform(({ ref }) => ref)], {
  error: 'ref is required',
})

export const ResolveRequest = z.object({ ref: reference }, { error: 'ref is required' })

interface ResultReference {
  readonly kind: 'stored'
  readonly executionId: string
  readonly name: string
  readonly resultId: string
}

interface LogicalReference {
  readonly kind: 'logical'
  readonly executionId: string
  readonly step: string
  readonly uri: string
}

const STORED = /^noetl:\/\/execution\/(\d{1,19})\/(?:result|tmp)\/([^]+)\/(\d{1,19})$/
/** Tenant, project, execution, step, frame, row, attempt. */
const LOGICAL = /^noetl:\/\/[^/]+\/[^/]+\/results\/(\d{1,19})\/([^/]+)\/[^/]+\/[^/]+\/[^/]+$/

/** Null when the text is neither kind of reference. */
export const parseReference = (uri: string): ResultReference | LogicalReference | null => {
  const stored = STORED.exec(uri)
  const logical = stored ? null : LOGICAL.exec(uri)
  const executionId = parseId(stored?.[1] ?? logical?.[1])
  const name = stored?.[2] ?? logical?.[2]
  if (executionId === null || name === undefined) return null
  if (!stored) return { kind: 'logical', executionId, step: name, uri }
  const resultId = parseId(stored[3])
  return resultId === null ? null : { kind: 'stored', executionId, name, resultId }
}

export const formatReference = (executionId: string, name: string, resultId: string): string =>
  `noetl://execution/${executionId}/result/${name}/${resultId}`
