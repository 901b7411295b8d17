/** Answers about access: tokens, who the caller is, and what callers did. */
import { z } from 'zod'
import { ROLES } from './access.ts'
import { anyObject, instant, textId } from './answer-parts.ts'

const role = z.enum(ROLES)

export const TokenAnswer = z
  .object({
    id: textId,
    name: z.string(),
    role,
    status: z.enum(['active', 'expired', 'revoked']),
    created_at: instant,
    created_by: z.string(),
    expires_at: instant.nullable(),
    last_used_at: instant.nullable(),
    revoked_at: instant.nullable(),
    revoked_by: z.string().nullable(),
  })
  .meta({ id: 'AccessToken' })
export type TokenAnswer = z.infer<typeof TokenAnswer>

export const CreatedTokenAnswer = TokenAnswer.extend({
  token: z.string().meta({ description: 'The token itself; it is given here and nowhere else' }),
}).meta({ id: 'CreatedAccessToken' })
export type CreatedTokenAnswer = z.infer<typeof CreatedTokenAnswer>

export const TokenListAnswer = z.object({ tokens: z.array(TokenAnswer) })

export const SessionAnswer = z
  .object({
    name: z.string(),
    role,
    token_id: textId.nullable(),
    expires_at: instant.nullable(),
    open: z.boolean().meta({ description: 'Whether callers without a token are let in' }),
  })
  .meta({ id: 'Session' })
export type SessionAnswer = z.infer<typeof SessionAnswer>

const facts = {
  audit_id: textId,
  occurred_at: instant,
  outcome: z.enum(['success', 'denied', 'not_found', 'error']),
  worker_id: z.string().nullable(),
  execution_id: textId.nullable(),
  parent_execution_id: textId.nullable(),
}

export const AuditAnswer = z.object({
  items: z.array(
    z
      .object({
        ...facts,
        actor: z.string(),
        role,
        token_id: textId.nullable(),
        action: z.string(),
        target: z.string().nullable(),
        address: z.string().nullable(),
        details: anyObject,
      })
      .meta({ id: 'AuditItem' }),
  ),
  next_cursor: textId.nullable(),
})

export const SecretAuditAnswer = z.object({
  rows: z.array(
    z
      .object({
        ...facts,
        credential: z.string().nullable(),
        operation: z.string(),
        server_region: z.string().nullable(),
        broker_region: z.string().nullable(),
        kek_version: z.string().nullable(),
        notes: z.string().nullable(),
      })
      .meta({ id: 'SecretAuditRow' }),
  ),
})
