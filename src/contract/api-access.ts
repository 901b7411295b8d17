/** Requests about access: tokens, and what callers did. */
import { z } from 'zod'
import { ROLES } from './access.ts'
import { body, nameText, queryFlag, queryText } from './api-body.ts'
import { documentedAs } from './documented.ts'
import { idSchema } from './ids.ts'

const TEN_YEARS_S = 10 * 366 * 86_400

/** Words that stand for callers without a token of their own. */
const RESERVED_NAMES = ['anonymous', 'local', 'environment', 'internal']

const MAX_TOKEN_NAME = 100

/** Shown in logs and lists, so it is one line; `/` parts it from the role there. */
const TokenName = nameText
  .max(MAX_TOKEN_NAME, { error: `must not be longer than ${MAX_TOKEN_NAME} characters` })
  .refine((name) => /^[^/\p{Cc}\p{Cs}]*$/u.test(name), {
    error: 'must not contain slashes or control characters',
  })
  .refine((name) => !RESERVED_NAMES.includes(name.toLowerCase()), {
    error: (issue) => `'${String(issue.input)}' is a name that the server uses itself; choose another`,
  })

const TokenRole = z.enum(ROLES, { error: `must be one of ${ROLES.join(', ')}` })

export const CreateTokenRequest = body({
  name: TokenName,
  role: TokenRole,
  /** Seconds; without it the token does not expire. */
  expires_in: z
    .number({ error: 'must be a number of seconds' })
    .int({ error: 'must be a whole number of seconds' })
    .min(1, { error: 'must be at least a second' })
    .max(TEN_YEARS_S, { error: 'must not be more than ten years' })
    .nullish(),
})

export const TokenListQuery = z.object({ include_revoked: queryFlag(false) })

/** An instant; without an offset it is UTC. */
const queryInstant = documentedAs(
  z.iso
    .datetime({ offset: true, local: true, error: 'must be a time such as 2026-01-31T12:00:00Z' })
    .optional()
    .transform((text) => {
      if (text === undefined) return null
      return /(?:[zZ]|[+-]\d{2}:?\d{2})$/.test(text) ? text : `${text}Z`
    }),
  { type: 'string', format: 'date-time' },
)

const queryLimit = (most: number) =>
  z.coerce
    .number({ error: `must be a whole number from 1 to ${most}` })
    .int({ error: `must be a whole number from 1 to ${most}` })
    .min(1, { error: `must be a whole number from 1 to ${most}` })
    .max(most, { error: `must be a whole number from 1 to ${most}` })
    .default(100)

export const AuditQuery = z.object({
  actor: queryText,
  /** `credential.read`, or `credential` for everything about credentials. */
  action: queryText,
  from: queryInstant,
  to: queryInstant,
  limit: queryLimit(1000),
  /** `next_cursor` of the page before. */
  cursor: idSchema('cursor').optional(),
})

export const SecretAuditQuery = z.object({
  credential: queryText,
  execution_id: idSchema('execution_id').optional(),
  from: queryInstant,
  to: queryInstant,
  limit: queryLimit(10_000),
})
