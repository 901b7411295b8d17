/** What callers did: everything for admins, looks at secrets for whoever watches over those. */
import type { FastifyInstance } from 'fastify'
import { AuditAnswer, SecretAuditAnswer } from '../../contract/answers-access.ts'
import { AuditQuery, SecretAuditQuery } from '../../contract/api-access.ts'
import type { AuditRow } from '../../store/audit.ts'
import { listAudit, listSecretAudit } from '../../store/audit.ts'
import { actorOf } from '../access/caller.ts'
import type { ServerContext } from '../app.ts'
import { route } from '../route.ts'

const tag = 'access'

export const auditRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  const { cluster } = core.shards

  route(
    app,
    {
      method: 'GET',
      url: '/api/audit',
      name: 'listAudit',
      tag,
      access: 'admin',
      summary: 'Who did what, newest first',
      description:
        'Changes of the catalog, of secrets and of tokens, and every look at a secret. What happened to an execution is in its own log.',
      query: AuditQuery,
      answer: AuditAnswer,
    },
    async ({ query: { cursor, ...query } }) => {
      // One more than asked for tells whether there is a next page.
      const rows = await listAudit(cluster, { ...query, before: cursor ?? null, limit: query.limit + 1 })
      const items = rows.slice(0, query.limit)
      return { items, next_cursor: rows.length > query.limit ? (items.at(-1)?.audit_id ?? null) : null }
    },
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/internal/secret-audit',
      name: 'listSecretAudit',
      tag,
      access: 'internal',
      summary: 'Who looked at which secret, newest first',
      query: SecretAuditQuery,
      answer: SecretAuditAnswer,
    },
    async ({ query: { execution_id, ...query } }) => {
      const rows = await listSecretAudit(cluster, { ...query, executionId: execution_id ?? null })
      return { rows: rows.map(secretRow) }
    },
  )
}

const secretRow = (row: AuditRow) => ({
  audit_id: row.audit_id,
  occurred_at: row.occurred_at,
  credential: row.target,
  operation: row.action,
  outcome: row.outcome,
  worker_id: row.worker_id,
  execution_id: row.execution_id,
  parent_execution_id: row.parent_execution_id,
  // There is one region and the keys are told apart by their fingerprints, which the wallet's own status gives.
  server_region: null,
  broker_region: null,
  kek_version: null,
  notes: `by ${actorOf({ name: row.actor, role: row.role, tokenId: row.token_id, expiresAt: null })}`,
})
